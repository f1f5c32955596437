package io.troupe.engine.djl.train;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The rows of one sequence in a float32 tensor [N, width] whose rows are the loss's tokens in
 * order. In Java a sequence has an element for each completion token, 0 for a token without loss
 * weight.
 *
 * @param memory of the tensor
 * @param first index of the sequence's first row
 * @param lossWeights of the sequence
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record TokenRows(MemorySegment memory, int width, int first, float[] lossWeights) {
  /** Returns column k. */
  public double[] column(int k) {
    double[] values = new double[lossWeights.length];
    int row = first;
    for (int t = 0; t < values.length; t++) {
      if (lossWeights[t] != 0) {
        values[t] = memory.getAtIndex(ValueLayout.JAVA_FLOAT, (long) row++ * width + k);
      }
    }
    return values;
  }

  /** Returns {@code count} columns after the first, a row for each completion token. */
  double[][] others(int count) {
    double[][] values = new double[lossWeights.length][count];
    for (int k = 0; k < count; k++) {
      double[] column = column(k + 1);
      for (int t = 0; t < column.length; t++) {
        values[t][k] = column[t];
      }
    }
    return values;
  }

  public void put(int k, double[] column) {
    int row = first;
    for (int t = 0; t < column.length; t++) {
      if (lossWeights[t] != 0) {
        memory.setAtIndex(ValueLayout.JAVA_FLOAT, (long) row++ * width + k, (float) column[t]);
      }
    }
  }

  /** Sets {@code count} columns after the first. */
  void putOthers(int count, double[][] values) {
    for (int k = 0; k < count; k++) {
      double[] column = new double[values.length];
      for (int t = 0; t < column.length; t++) {
        column[t] = values[t][k];
      }
      put(k + 1, column);
    }
  }
}
