package io.troupe.gateway.dialog;

import io.troupe.engine.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** A tokenizer of Unicode characters, and of the two special tokens of ChatML. */
final class MarkupTokenizer implements Tokenizer {
  static final int START = 1;
  static final int END = 2;
  private static final int FIRST = 10;
  private static final List<String> SPECIAL = List.of("", "<|im_start|>", "<|im_end|>");

  @Override
  public int[] encode(String text) {
    return text.codePoints().map(each -> each + FIRST).toArray();
  }

  @Override
  public int[] encodeWithSpecial(String text) {
    IntStream.Builder ids = IntStream.builder();
    int at = 0;
    while (at < text.length()) {
      int special =
          text.startsWith(SPECIAL.get(START), at)
              ? START
              : text.startsWith(SPECIAL.get(END), at) ? END : 0;
      if (special > 0) {
        ids.add(special);
        at += SPECIAL.get(special).length();
      } else {
        ids.add(text.charAt(at++) + FIRST);
      }
    }
    return ids.build().toArray();
  }

  /** The text with special tokens spelled out, to be read. */
  static String shown(int[] tokens) {
    StringBuilder text = new StringBuilder();
    for (int token : tokens) {
      if (token < FIRST) {
        text.append(SPECIAL.get(token));
      } else {
        text.appendCodePoint(token - FIRST);
      }
    }
    return text.toString();
  }

  @Override
  public String decode(int[] tokens) {
    StringBuilder text = new StringBuilder();
    IntStream.of(tokens)
        .filter(each -> each >= FIRST)
        .forEach(each -> text.appendCodePoint(each - FIRST));
    return text.toString();
  }

  @Override
  public byte[] bytes(int token) {
    return decode(new int[] {token}).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public int vocabularySize() {
    return FIRST + Character.MAX_CODE_POINT;
  }

  @Override
  public int endOfSequence() {
    return END;
  }

  @Override
  public Set<Integer> endIds() {
    return Set.of(END);
  }
}
