package io.troupe.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bytes that are no UTF-8, and what Python 3.12 and tokenizers 0.23.3 make of them. */
final class LossyUtf8Test {
  @ParameterizedTest
  @CsvSource({
    "61 C3 A9, aé",
    "ED 9F BF, \uD7FF",
    "ED A0 80, ???",
    "ED AF C7 88, ??ǈ",
    "ED BF BF 61, ???a",
    "ED ED A0, ???",
    "ED, ?",
    "E1 80, ?",
    "E0 80, ??",
    "F0 9F 99, ?",
    "F0 9F 99 82, 🙂",
    "F4 90 80 80, ????",
    "80 BF FF, ???"
  })
  void text_bytes_replacesAsRustAndPythonDo(String hex, String marked) {
    byte[] bytes = HexFormat.ofDelimiter(" ").parseHex(hex);
    String expected = marked.replace('?', '\uFFFD');

    assertThat(LossyUtf8.text(bytes)).isEqualTo(expected);

    IncrementalText growing = new IncrementalText(new BytesAsTokens(), List.of(), false);
    StringBuilder text = new StringBuilder();
    for (byte each : bytes) {
      text.append(growing.add(new int[] {each & 0xFF}, false));
    }
    assertThat(text.append(growing.add(new int[0], true))).hasToString(expected);
  }

  /** A token is a byte. */
  private static final class BytesAsTokens implements Tokenizer {
    @Override
    public int[] encode(String text) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int[] encodeWithSpecial(String text) {
      throw new UnsupportedOperationException();
    }

    @Override
    public String decode(int[] tokens) {
      throw new UnsupportedOperationException();
    }

    @Override
    public byte[] bytes(int token) {
      return new byte[] {(byte) token};
    }

    @Override
    public int vocabularySize() {
      return 256;
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
}
