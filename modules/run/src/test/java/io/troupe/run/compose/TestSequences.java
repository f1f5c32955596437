package io.troupe.run.compose;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.CharacterTokenizer;
import java.util.Arrays;

/** Sequences to imitate, written as texts. */
final class TestSequences {
  private TestSequences() {}

  /** Each token of the completion counts as one. */
  static TrainingSequence of(CharacterTokenizer tokenizer, String prompt, String completion) {
    int[] tokens = tokenizer.encode(completion);
    float[] ones = new float[tokens.length];
    Arrays.fill(ones, 1);
    return new TrainingSequence(
        tokenizer.encode(prompt), tokens, new float[tokens.length], ones, 0);
  }
}
