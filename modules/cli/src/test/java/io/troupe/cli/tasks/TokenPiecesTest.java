package io.troupe.cli.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.LiteralMark;
import io.troupe.engine.Tokenizer;
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

  @Test
  void of_text_marksSpecialTokensAndPartsOfCharacters() {
    TokenPieces pieces = TokenPieces.of("<s>hé\n<s>", new Bytes());

    assertThat(pieces.text()).isEqualTo("⟦<s>⟧|h|…|é|\\n|⟦<s>⟧");
    assertThat(pieces.ids()).containsExactly(256, (int) 'h', 0xc3, 0xa9, (int) '\n', 256);
    assertThat(pieces.count()).isEqualTo(6);
  }

  @Test
  void of_spelledSpecialTokenAndRemovedCharacter_readsOnBehindThem() {
    assertThat(TokenPieces.of("h<\uFDD0s>é<s>", new Bytes()).text()).isEqualTo("h|<|s|>|…|é|⟦<s>⟧");
    assertThat(TokenPieces.of("hXé<s>", new Bytes()).text()).isEqualTo("h|…|é|⟦<s>⟧");
  }

  @Test
  void text_longPrompt_showsItsBeginningAndEnd() {
    assertThat(TokenPieces.of("a".repeat(300) + "z", new Bytes()).text())
        .startsWith("a|a|")
        .contains("|a| … 221 more … |a|")
        .endsWith("|a|z");
  }
}
