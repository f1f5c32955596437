package io.troupe.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CharacterTokenizerTest {
  private final CharacterTokenizer digits = new CharacterTokenizer("0123456789+=");

  @Test
  void encode_textOfTheAlphabet_givesIdsFromTwoInAlphabetOrder() {
    assertThat(digits.encode("09+=")).containsExactly(2, 11, 12, 13);
    assertThat(digits.encode("")).isEmpty();
  }

  @Test
  void decode_withPaddingAndEnd_dropsBoth() {
    assertThat(digits.decode(new int[] {0, 3, 4, 1, 0, 2, 1})).isEqualTo("120");
  }

  @Test
  void bytes_ofSpecialAndOrdinaryIds_areThoseOfTheirText() {
    CharacterTokenizer tokenizer = new CharacterTokenizer("aé");

    assertThat(tokenizer.bytes(0)).isEmpty();
    assertThat(tokenizer.bytes(1)).isEmpty();
    assertThat(tokenizer.bytes(3)).containsExactly(0xC3, 0xA9);
    assertThatThrownBy(() -> tokenizer.bytes(4)).isInstanceOf(IllegalArgumentException.class);
    assertThat(tokenizer.encodeWithSpecial("éa")).containsExactly(3, 2);
  }

  @Test
  void vocabularySize_always_countsTheTwoSpecialIds() {
    assertThat(digits.vocabularySize()).isEqualTo(14);
    assertThat(digits.endOfSequence()).isEqualTo(1);
    assertThat(digits.endIds()).containsExactly(1);
    assertThat(digits.alphabet()).isEqualTo("0123456789+=");
  }

  @Test
  void encode_characterOutsideTheAlphabet_namesItItsCodeAndItsPosition() {
    assertThatThrownBy(() -> digits.encode("12x4"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "character 'x' (U+0078) at position 2 of a text of 4 characters is not in the"
                + " tokenizer's alphabet of 12; add it to the alphabet or remove it from the text");
    assertThatThrownBy(() -> digits.encode("1\n")).hasMessageContaining("character U+000A at");
  }

  @Test
  void encode_characterOutsideTheBasicPlane_isOneToken() {
    CharacterTokenizer tokenizer = new CharacterTokenizer("a😀b");

    assertThat(tokenizer.encode("b😀a")).containsExactly(4, 3, 2);
    assertThat(tokenizer.decode(new int[] {3, 3})).isEqualTo("😀😀");
    assertThat(tokenizer.vocabularySize()).isEqualTo(5);
    assertThatThrownBy(() -> tokenizer.encode("a😀🙂"))
        .hasMessageContaining("character '🙂' (U+1F642) at position 2 of a text of 3");
  }

  @Test
  void construct_duplicateCharacter_namesBothPositions() {
    assertThatThrownBy(() -> new CharacterTokenizer("0120"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the alphabet holds each character once, but '0' (U+0030) is at positions 0 and 3");
  }

  @Test
  void construct_emptyAlphabetOrHalfAPair_isRefused() {
    assertThatThrownBy(() -> new CharacterTokenizer("")).hasMessageContaining("must not be empty");
    assertThatThrownBy(() -> new CharacterTokenizer("a\uD83D"))
        .hasMessageContaining("character 1 of the alphabet is half a surrogate pair (U+D83D)");
  }

  @Test
  void decode_idOutsideTheVocabulary_namesItAndItsPosition() {
    assertThatThrownBy(() -> digits.decode(new int[] {2, 14}))
        .hasMessage("token 14 at position 1 is no id of this tokenizer; ids lie in [0, 13]");
    assertThatThrownBy(() -> digits.decode(new int[] {-1})).hasMessageContaining("token -1");
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void decode_ofEncoded_isTheText(long seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < random.nextInt(50); i++) {
      text.append(digits.alphabet().charAt(random.nextInt(12)));
    }

    assertThat(digits.decode(digits.encode(text.toString()))).isEqualTo(text.toString());
  }
}
