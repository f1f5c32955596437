package io.troupe.engine.djl.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.djl.torch.Precision;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** A step holds no more tensors at a time than its ways to save memory leave. */
@EnabledOnOs(OS.LINUX) // its C library counts
final class StepMemoryTest {
  private static final long MEBIBYTE = 1 << 20;

  /** The graph of all rows of the feed-forward part takes 24 MiB more. */
  @Test
  void step_ofManyTokens_computesTheFeedForwardPartByRows() {
    StepMemory.Load load = new StepMemory.Load(4096, 128, 2, 32, 192, 96, Precision.BFLOAT16);
    assertThat(StepMemory.most(load)).isBetween(60 * MEBIBYTE, 88 * MEBIBYTE);
  }

  /** A graph of the logits, or the gradient of the embedding as a matrix, takes 16 MiB more. */
  @Test
  void step_ofALargeVocabulary_hasNoGraphOfLogitsAndAddsRowsOfTheEmbedding() {
    StepMemory.Load load = new StepMemory.Load(32_768, 128, 1, 8, 128, 128, Precision.BFLOAT16);
    assertThat(StepMemory.most(load)).isBetween(90 * MEBIBYTE, 118 * MEBIBYTE);
  }
}
