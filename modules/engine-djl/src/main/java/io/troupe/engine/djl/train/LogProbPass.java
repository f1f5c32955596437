package io.troupe.engine.djl.train;

import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.TorchProgram;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The log-probabilities of the tokens of a micro-batch under a policy.
 *
 * @param values [N, width] log-probabilities, and behind them the entropy where it is scored; they
 *     carry the gradient where the thread's gradients are on
 * @param entropy [N] of the distributions, in nats
 */
public record LogProbPass(NativeTensor values, NativeTensor entropy, int tokens, int width)
    implements AutoCloseable {
  /**
   * The values that are computed of the tokens.
   *
   * @param temperature logits are divided by it
   * @param entropy whether the entropy is a column of the values, so that it carries the gradient
   */
  record Scored(double temperature, boolean entropy) {
    /** Log-probabilities alone. */
    static Scored at(double temperature) {
      return new Scored(temperature, false);
    }

    /** Columns of the values. */
    int width(MicroBatch batch) {
      return batch.width() + (entropy ? 1 : 0);
    }

    /** The program's argument. */
    long bonus() {
      return entropy ? 1 : 0;
    }
  }

  /**
   * Computes log-probabilities under frozen weights; gradients are off.
   *
   * @param rows most positions whose logits are held at a time
   */
  static LogProbPass of(
      Decoder decoder, ModelWeights weights, MicroBatch batch, double temperature, int rows) {
    if (batch.tokens() <= rows) {
      try (TorchProgram.Call call = decoder.call("log_probs", weights)) {
        return of(call, batch, batch.heads(), Scored.at(temperature));
      }
    }
    try (TorchProgram.Call first = decoder.call("states", weights);
        NativeTensor states = batch.into(first).opaque();
        TorchProgram.Call call = decoder.call("part_log_probs", weights)) {
      return inParts(call, batch, states, Scored.at(temperature), rows);
    }
  }

  /**
   * Completes a call of log_probs that has its weights.
   *
   * @param first ids, or hidden states that are computed already
   */
  public static LogProbPass of(
      TorchProgram.Call call, MicroBatch batch, NativeTensor first, double temperature) {
    return of(call, batch, first, Scored.at(temperature));
  }

  static LogProbPass of(
      TorchProgram.Call call, MicroBatch batch, NativeTensor first, Scored scored) {
    TorchProgram.Call asked = batch.into(call, first).with(batch.chosen());
    return of(batch, scored, asked.with(scored.temperature()).with(scored.bonus()).tensorHandles());
  }

  /** Completes a call of part_log_probs that has its weights; gradients are off. */
  static LogProbPass inParts(
      TorchProgram.Call call, MicroBatch batch, NativeTensor states, Scored scored, int rows) {
    TorchProgram.Call asked = call.with(states).with((long) rows).with(scored.temperature());
    return of(batch, scored, asked.with(batch.chosen()).with(scored.bonus()).tensorHandles());
  }

  private static LogProbPass of(MicroBatch batch, Scored scored, long[] handles) {
    int width = scored.width(batch);
    return new LogProbPass(
        NativeTensor.of(handles[0], ElementType.FLOAT32, (long) batch.tokens() * width),
        NativeTensor.of(handles[1], ElementType.FLOAT32, batch.tokens()),
        batch.tokens(),
        width);
  }

  boolean finite() {
    MemorySegment memory = values.memory();
    for (long i = 0; i < (long) tokens * width; i++) {
      if (!Float.isFinite(memory.getAtIndex(ValueLayout.JAVA_FLOAT, i))) {
        return false;
      }
    }
    return true;
  }

  /** Returns the rows of each sequence of a plan, in the plan's order. */
  public List<TokenRows> rows(PrefixSharingPlan plan) {
    return rows(plan, values, width);
  }

  public static List<TokenRows> rows(PrefixSharingPlan plan, NativeTensor tensor, int width) {
    MemorySegment memory = tensor.memory();
    List<TokenRows> rows = new ArrayList<>();
    int first = 0;
    for (PrefixSharingPlan.PlannedRow row : plan.rows()) {
      rows.add(new TokenRows(memory, width, first, row.part().sequence().lossWeights()));
      first += row.part().tokens();
    }
    return rows;
  }

  double entropySum() {
    MemorySegment memory = entropy.memory();
    double sum = 0;
    for (int n = 0; n < tokens; n++) {
      sum += memory.getAtIndex(ValueLayout.JAVA_FLOAT, n);
    }
    return sum;
  }

  @Override
  public void close() {
    values.close();
    entropy.close();
  }
}
