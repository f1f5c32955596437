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

/** The end of a call of the program that draws a token for each of its rows. */
final class TokenSampler implements AutoCloseable {
  private static final int BARE_ROWS = 2;
  private static final int FULL_ROWS = 3;
  private static final int GREEDY = 1;
  private static final int FULL = 2;
  private static final int TEMPERED = 4;
  private static final long NOTHING_DRAWN = -1;

  private final Decoder decoder;
  private final SamplingInputs inputs;
  private final NativeTensor noExcludedTokens;

  /**
   * What the program drew: tokens, their log-probabilities and, at the end, those of the bare
   * distribution, a row of numbers each.
   */
  static final class SampledTokens {
    private final double[] numbers;

    private SampledTokens(double[] numbers) {
      this.numbers = numbers;
    }

    /** Gives each row its token. */
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

  /** The arrays of numbers that each call reads; the caller fills in what is its own. */
  SamplingInputs inputs() {
    return inputs;
  }

  /** Completes and runs a call that draws a token for each row. */
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
    try (NativeTensor held = decoder.zeros(ElementType.INT64, n, width)) {
      fill(held.memory(), rows, width);
      return run(call, held, n, flags, kinds);
    }
  }

  private SampledTokens run(
      TorchProgram.Call call, NativeTensor held, int n, int flags, int kinds) {
    call.with(inputs.integers()).with(inputs.numbers()).with((long) n).with((long) flags);
    try (NativeTensor drawn = call.with(held).tensor(ElementType.FLOAT64, (long) kinds * n)) {
      return new SampledTokens(drawn.memory().toArray(ValueLayout.JAVA_DOUBLE));
    }
  }

  /** Completes and runs a call that draws nothing. */
  void runWithout(TorchProgram.Call call, int rows) {
    call.with(inputs.integers()).with(inputs.numbers());
    call.with((long) rows).with(NOTHING_DRAWN).with(noExcludedTokens).run();
  }

  private static int flags(DecodeRow row) {
    boolean full =
        row.settings().truncates() || row.settings().penalises() || row.settings().rawLogProbs();
    return (row.settings().isGreedy() ? GREEDY : 0)
        | (full ? FULL : 0)
        | (row.temperature() != 1 ? TEMPERED : 0);
  }

  /**
   * The ids that each row holds, where its repetitions are penalised; else its first throughout.
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
