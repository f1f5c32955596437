package io.troupe.engine.djl.decode;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.TorchProgram;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** The last part of a call of the program, which samples a token for each row. */
final class TokenSampler implements AutoCloseable {
  private static final int BARE_ROWS = 2;
  private static final int FULL_ROWS = 3;
  private static final int GREEDY = 1;
  private static final int FULL = 2;
  private static final int TEMPERED = 4;
  private static final long SAMPLE_NOTHING = -1;

  private final Decoder decoder;
  private final SamplingInputs inputs;
  private final NativeTensor noExcludedTokens;

  /**
   * The result of a call: a row of tokens, a row of their log-probabilities, and as the last row
   * their log-probabilities under the bare distribution.
   */
  static final class SampledTokens {
    private final double[] numbers;

    private SampledTokens(double[] numbers) {
      this.numbers = numbers;
    }

    /** Appends its token to each row. */
    void accept(List<DecodeRow> rows, WeightVersion version, Tokenizer tokenizer) {
      int n = rows.size();
      for (int i = 0; i < n; i++) {
        if (!rows.get(i).done()) {
          double raw = numbers[numbers.length - n + i];
          rows.get(i).accept((int) numbers[i], numbers[n + i], raw, version, tokenizer);
        }
      }
    }
  }

  TokenSampler(Decoder decoder) {
    this.decoder = decoder;
    this.inputs = new SamplingInputs(decoder);
    this.noExcludedTokens = NativeTensor.zeros(ElementType.INT64, 0, 0);
  }

  /**
   * Returns the arrays of numbers that each call reads; the caller fills in the first integers of
   * each row.
   */
  SamplingInputs inputs() {
    return inputs;
  }

  /** Completes and runs a call that samples a token for each row. */
  SampledTokens run(TorchProgram.Call call, List<DecodeRow> rows) {
    int n = rows.size();
    int flags = 0;
    for (int i = 0; i < n; i++) {
      inputs.samplingInputs(i, rows.get(i));
      flags |= flags(rows.get(i));
    }
    int kinds = (flags & FULL) != 0 ? FULL_ROWS : BARE_ROWS;
    int width =
        rows.stream()
            .filter(row -> row.settings().penalises())
            .mapToInt(DecodeRow::length)
            .max()
            .orElse(0);
    if (width == 0) {
      return run(call, noExcludedTokens, n, flags, kinds);
    }
    try (NativeTensor tokenIds = decoder.zeros(ElementType.INT64, n, width)) {
      fill(tokenIds.memory(), rows, width);
      return run(call, tokenIds, n, flags, kinds);
    }
  }

  private SampledTokens run(
      TorchProgram.Call call, NativeTensor tokenIds, int n, int flags, int kinds) {
    call.with(inputs.integers()).with(inputs.numbers()).with((long) n).with((long) flags);
    try (NativeTensor sampled = call.with(tokenIds).tensor(ElementType.FLOAT64, (long) kinds * n)) {
      return new SampledTokens(sampled.memory().toArray(ValueLayout.JAVA_DOUBLE));
    }
  }

  /** Completes and runs a call that samples nothing. */
  void runWithout(TorchProgram.Call call, int rows) {
    call.with(inputs.integers()).with(inputs.numbers());
    call.with((long) rows).with(SAMPLE_NOTHING).with(noExcludedTokens).run();
  }

  private static int flags(DecodeRow row) {
    boolean full =
        row.settings().truncates() || row.settings().penalises() || row.settings().rawLogProbs();
    return (row.settings().isGreedy() ? GREEDY : 0)
        | (full ? FULL : 0)
        | (row.temperature() != 1 ? TEMPERED : 0);
  }

  /**
   * Writes the token ids of each row whose repetitions are penalised; in every other row the first
   * id fills all places.
   */
  private static void fill(MemorySegment ids, List<DecodeRow> rows, int width) {
    for (int i = 0; i < rows.size(); i++) {
      DecodeRow row = rows.get(i);
      for (int t = 0; t < width; t++) {
        long id = row.token(row.settings().penalises() && t < row.length() ? t : 0);
        ids.setAtIndex(ValueLayout.JAVA_LONG, (long) i * width + t, id);
      }
    }
  }

  @Override
  public void close() {
    inputs.close();
    noExcludedTokens.close();
  }
}
