package io.troupe.engine.djl.train;

import io.troupe.core.loss.TeacherTokens;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.TorchProgram;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The most likely tokens of a policy at each token of a micro-batch.
 *
 * @param ids [N, K]
 * @param logProbs [N, K]
 * @param topK K
 */
record TopKLogProbs(NativeTensor ids, NativeTensor logProbs, int topK) implements AutoCloseable {
  /**
   * Computes the most likely tokens under a teacher; gradients are off.
   *
   * @param rows most positions whose logits are held at a time
   */
  static TopKLogProbs of(
      TeacherModel teacher, MicroBatch batch, int topK, double temperature, int rows) {
    Decoder decoder = teacher.decoder();
    if (batch.tokens() <= rows) {
      try (TorchProgram.Call call = decoder.call("top_k_log_probs", teacher.weights())) {
        return of(
            batch, topK, batch.into(call).with((long) topK).with(temperature).tensorHandles());
      }
    }
    try (TorchProgram.Call first = decoder.call("states", teacher.weights());
        NativeTensor states = batch.into(first).opaque();
        TorchProgram.Call call = decoder.call("part_top_k", teacher.weights())) {
      call.with(states).with((long) rows).with(temperature).with((long) topK);
      return of(batch, topK, call.tensorHandles());
    }
  }

  private static TopKLogProbs of(MicroBatch batch, int topK, long[] handles) {
    long elements = (long) batch.tokens() * topK;
    return new TopKLogProbs(
        NativeTensor.of(handles[0], ElementType.INT64, elements),
        NativeTensor.of(handles[1], ElementType.FLOAT32, elements),
        topK);
  }

  /** Returns rows of zeros. */
  static TeacherTokens none(int length, int topK) {
    return new TeacherTokens(new int[length][topK], new float[length][topK]);
  }

  /** Returns the rows of each sequence of a plan, in the plan's order. */
  List<TeacherTokens> ofSequences(PrefixSharingPlan plan) {
    MemorySegment token = ids.memory();
    MemorySegment value = logProbs.memory();
    List<TeacherTokens> all = new ArrayList<>();
    long at = 0;
    for (PrefixSharingPlan.PlannedRow row : plan.rows()) {
      float[] lossWeights = row.part().sequence().lossWeights();
      TeacherTokens tokens = none(lossWeights.length, topK);
      for (int t = 0; t < lossWeights.length; t++) {
        for (int k = 0; lossWeights[t] != 0 && k < topK; k++) {
          tokens.ids()[t][k] = Math.toIntExact(token.getAtIndex(ValueLayout.JAVA_LONG, at));
          tokens.logProbs()[t][k] = value.getAtIndex(ValueLayout.JAVA_FLOAT, at);
          at++;
        }
      }
      all.add(tokens);
    }
    return all;
  }

  @Override
  public void close() {
    ids.close();
    logProbs.close();
  }
}
