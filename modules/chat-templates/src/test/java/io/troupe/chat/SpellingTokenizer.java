package io.troupe.chat;

import io.troupe.engine.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A tokenizer of Unicode characters and of special tokens, which a text may spell.
 *
 * @param special ids are 0, 1, 2 … in this order; a text never spells an empty one
 * @param ends of texts, the first is the end of a sequence
 */
public record SpellingTokenizer(List<String> special, List<String> ends) implements Tokenizer {
  private static final int FIRST = 100;

  @Override
  public int[] encode(String text) {
    return text.codePoints().map(each -> each + FIRST).toArray();
  }

  @Override
  public int[] encodeWithSpecial(String text) {
    List<Integer> ids = new ArrayList<>();
    int at = 0;
    while (at < text.length()) {
      int from = at;
      int found =
          IntStream.range(0, special.size())
              .filter(id -> text.startsWith(special.get(id), from))
              .findFirst()
              .orElse(-1);
      int length =
          found < 0 ? Character.charCount(text.codePointAt(at)) : special.get(found).length();
      ids.add(found < 0 ? text.codePointAt(at) + FIRST : found);
      at += length;
    }
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }

  @Override
  public String decode(int[] tokens) {
    StringBuilder text = new StringBuilder();
    Arrays.stream(tokens)
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
    return special.indexOf(ends.getFirst());
  }

  @Override
  public Set<Integer> endIds() {
    Set<Integer> ids = new LinkedHashSet<>();
    ends.forEach(end -> ids.add(special.indexOf(end)));
    return ids;
  }
}
