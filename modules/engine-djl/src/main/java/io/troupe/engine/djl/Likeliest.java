package io.troupe.engine.djl;

import io.troupe.core.train.TeacherTokens;
import io.troupe.engine.djl.NativeTensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * What a policy finds most likely at the tokens of a micro-batch.
 *
 * @param ids [N, K]
 * @param logProbs [N, K]
 * @param topK K
 */
record Likeliest(NativeTensor ids, NativeTensor logProbs, int topK) implements AutoCloseable {
  /** Makes a call of likeliest that has its weights. */
  static Likeliest of(Program.Call call, MicroBatch batch, int topK, double temperature) {
    long[] handles = batch.into(call).with((long) topK).with(temperature).tensorHandles();
    long elements = (long) batch.tokens() * topK;
    return new Likeliest(
        NativeTensor.of(handles[0], DType.INT64, elements),
        NativeTensor.of(handles[1], DType.FLOAT32, elements),
        topK);
  }

  /** Rows of zeros. */
  static TeacherTokens none(int length, int topK) {
    return new TeacherTokens(new int[length][topK], new float[length][topK]);
  }

  /** The rows of each sequence of a plan, in its order. */
  List<TeacherTokens> ofSequences(SequencePlan plan) {
    MemorySegment token = ids.memory();
    MemorySegment value = logProbs.memory();
    List<TeacherTokens> all = new ArrayList<>();
    long at = 0;
    for (SequencePlan.Row row : plan.rows()) {
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
