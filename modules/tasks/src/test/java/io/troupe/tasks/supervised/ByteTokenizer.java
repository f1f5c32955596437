package io.troupe.tasks.supervised;

import io.troupe.engine.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A tokenizer of bytes, and of special tokens behind them.
 *
 * @param special tokens, whose ids begin at 256
 * @param end of a text, one of them
 */
record ByteTokenizer(List<String> special, String end) implements Tokenizer {
  private static final int BYTES = 256;

  @Override
  public int[] encode(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int[] ids = new int[bytes.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = Byte.toUnsignedInt(bytes[i]);
    }
    return ids;
  }

  @Override
  public int[] encodeWithSpecial(String text) {
    List<Integer> ids = new ArrayList<>();
    int at = 0;
    while (at < text.length()) {
      int from = at;
      String found =
          special.stream().filter(each -> text.startsWith(each, from)).findFirst().orElse("");
      int until = found.isEmpty() ? text.offsetByCodePoints(at, 1) : at + found.length();
      if (found.isEmpty()) {
        for (int id : encode(text.substring(at, until))) {
          ids.add(id);
        }
      } else {
        ids.add(BYTES + special.indexOf(found));
      }
      at = until;
    }
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }

  @Override
  public String decode(int[] tokens) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int token : tokens) {
      bytes.writeBytes(bytes(token));
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  /** Returns the text of ids with its special tokens. */
  String spelled(int[] tokens) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int token : tokens) {
      bytes.writeBytes(
          token < BYTES
              ? bytes(token)
              : special.get(token - BYTES).getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Override
  public byte[] bytes(int token) {
    return token < BYTES ? new byte[] {(byte) token} : new byte[0];
  }

  @Override
  public String spelling(int token) {
    return token < BYTES ? "" : special.get(token - BYTES);
  }

  @Override
  public int vocabularySize() {
    return BYTES + special.size();
  }

  @Override
  public int endOfSequence() {
    return BYTES + special.indexOf(end);
  }

  @Override
  public Set<Integer> endIds() {
    return Set.of(endOfSequence());
  }
}
