package io.troupe.benchmarks.harness;

import io.troupe.engine.Tokenizer;
import java.util.Set;

/**
 * A tokenizer of ids that stand for no text: 1 ends a completion.
 *
 * @param vocabularySize number of ids
 */
public record IdTokenizer(int vocabularySize) implements Tokenizer {
  @Override
  public int[] encode(String text) {
    throw new UnsupportedOperationException("a benchmark's ids stand for no text");
  }

  @Override
  public int[] encodeWithSpecial(String text) {
    return encode(text);
  }

  @Override
  public byte[] bytes(int token) {
    return new byte[0];
  }

  @Override
  public Set<Integer> endIds() {
    return Set.of(endOfSequence());
  }

  @Override
  public String decode(int[] tokens) {
    return "";
  }

  @Override
  public int endOfSequence() {
    return 1;
  }
}
