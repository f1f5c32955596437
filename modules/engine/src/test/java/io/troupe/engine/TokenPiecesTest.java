package io.troupe.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.LiteralMark;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A prompt's tokens as a person reads them. */
final class TokenPiecesTest {
  private static final String SPECIAL = "<s>";

  /** A token for each byte but those of {@code X}, and 256 for {@code <s>}. */
  private static final class Bytes implements Tokenizer {
    @Override
    public int[] encode(String text) {
      byte[] bytes = LiteralMark.removed(text).replace("X", "").getBytes(StandardCharsets.UTF_8);
      return IntStream.range(0, bytes.length).map(i -> bytes[i] & 0xff).toArray();
    }

    @Override
    public int[] encodeWithSpecial(String text) {
      int at = text.indexOf(SPECIAL);
      return at < 0
          ? encode(text)
          : Stream.of(encode(text.substring(0, at)), new int[] {256}, rest(text, at))
              .flatMapToInt(Arrays::stream)
              .toArray();
    }

    private int[] rest(String text, int at) {
      return encodeWithSpecial(text.substring(at + SPECIAL.length()));
    }

    @Override
    public String decode(int[] tokens) {
      return Arrays.toString(tokens);
    }

    @Override
    public byte[] bytes(int token) {
      return token == 256 ? new byte[0] : new byte[] {(byte) token};
    }

    @Override
    public String spelling(int token) {
      return token == 256 ? SPECIAL : "";
    }

    @Override
    public int vocabularySize() {
      return 257;
    }

    @Override
    public int endOfSequence() {
      return 256;
    }

    @Override
    public Set<Integer> endIds() {
      return Set.of(256);
    }
  }

  private static TokenPieces pieces(String text) {
    Tokenizer tokenizer = new Bytes();
    return TokenPieces.of(tokenizer.encodeWithSpecial(text), tokenizer);
  }

  @Test
  void of_text_marksSpecialTokensAndPartsOfCharacters() {
    assertThat(pieces("<s>hé\n<s>").text()).isEqualTo("⟦<s>⟧|h|…|é|\\n|⟦<s>⟧");
    assertThat(pieces("\uFFFDh").text()).isEqualTo("…|…|\uFFFD|h");
  }

  @Test
  void of_spelledSpecialTokenAndRemovedCharacter_showsWhatTheTokensAre() {
    assertThat(pieces("h<\uFDD0s>é<s>").text()).isEqualTo("h|<|s|>|…|é|⟦<s>⟧");
    assertThat(pieces("hXé<s>").text()).isEqualTo("h|…|é|⟦<s>⟧");
  }

  @Test
  void of_specialTokenThatNoTextSpells_isItsId() {
    Tokenizer tokenizer = new CharacterTokenizer("ab");

    assertThat(TokenPieces.of(new int[] {2, 3, tokenizer.endOfSequence()}, tokenizer).text())
        .isEqualTo("a|b|⟦1⟧");
  }

  @Test
  void text_longPrompt_showsItsBeginningAndEnd() {
    assertThat(pieces("a".repeat(300) + "z").text())
        .startsWith("a|a|")
        .contains("|a| … 221 more … |a|")
        .endsWith("|a|z");
  }
}
