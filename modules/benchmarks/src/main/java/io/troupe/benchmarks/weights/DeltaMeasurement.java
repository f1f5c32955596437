package io.troupe.benchmarks.weights;

import io.troupe.engine.safetensors.DType;
import io.troupe.weights.delta.ChunkDelta;
import io.troupe.weights.delta.DamagedDeltaException;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * The size of deltas of bfloat16 weights from version to version: a slice of each matrix of a layer
 * of Qwen3-4B, whose float32 master weights AdamW moves.
 */
final class DeltaMeasurement {
  private static final double BAR = .05;
  private static final double LEARNING_RATE = 1e-6;
  private static final double BETA1 = .9;
  private static final double BETA2 = .999;
  private static final double EPSILON = 1e-8;
  private static final double STD = .02;

  /** Steps after which the moments are those of a run. */
  private static final int BEFORE = 30;

  private static final int VERSIONS = 5;

  /**
   * The number of times that each chunk is coded; the first version compiles the code and is not
   * timed.
   */
  private static final int ROUNDS = 20;

  private static final int CHUNK = 4 << 20;

  /** The part of a layer's rows that is measured is one in this number. */
  private static final int SLICE = 32;

  private static final double MILLION = 1e6;

  /** The source of gradients. */
  private enum Gradients {
    /** Each step's gradients are random, as in a run whose batches differ. */
    NOISE("random"),
    /** All gradients point one way at every step: the fastest that AdamW moves. */
    CONSTANT("of one sign, always");

    private final String title;

    Gradients(String title) {
      this.title = title;
    }
  }

  private final float[] weights = new float[elements()];
  private final float[] first = new float[weights.length];
  private final float[] second = new float[weights.length];
  private final SplittableRandom random = new SplittableRandom(1);

  private DeltaMeasurement() {}

  private static int elements() {
    return Arrays.stream(MovedWeightsFile.LAYER)
        .mapToInt(matrix -> matrix[0] / SLICE * matrix[1])
        .sum();
  }

  /** Prints a line for each kind of gradients; whether the bar is met by those of a run. */
  static boolean run() throws DamagedDeltaException {
    System.out.printf(
        Locale.ROOT,
        "deltas of %,d bfloat16 weights in the shapes of a layer of Qwen3-4B, AdamW at a learning"
            + " rate of %.0e, mean of %d versions%n",
        elements(),
        LEARNING_RATE,
        VERSIONS);
    boolean met = true;
    for (Gradients gradients : Gradients.values()) {
      boolean within = new DeltaMeasurement().measure(gradients);
      met &= within || gradients == Gradients.CONSTANT;
    }
    return met;
  }

  private boolean measure(Gradients gradients) throws DamagedDeltaException {
    for (int i = 0; i < weights.length; i++) {
      weights[i] = (float) (STD * gaussian());
    }
    for (int step = 1; step <= BEFORE; step++) {
      step(step, gradients);
    }
    byte[] before = rounded();
    long delta = 0;
    long changed = 0;
    long coding = 0;
    long making = 0;
    for (int version = 1; version <= VERSIONS; version++) {
      step(BEFORE + version, gradients);
      byte[] after = rounded();
      for (int i = 0; i < after.length; i += 2) {
        changed += after[i] != before[i] || after[i + 1] != before[i + 1] ? 1 : 0;
      }
      for (int from = 0; from < after.length; from += CHUNK) {
        int length = Math.min(CHUNK, after.length - from);
        byte[] old = Arrays.copyOfRange(before, from, from + length);
        byte[] next = Arrays.copyOfRange(after, from, from + length);
        byte[] coded = {};
        for (int round = 0; round < ROUNDS; round++) {
          long start = System.nanoTime();
          coded = ChunkDelta.encode(old, next, length, length / 2);
          coding += version > 1 ? System.nanoTime() - start : 0;
        }
        for (int round = 0; round < ROUNDS && coded.length > 0; round++) {
          byte[] made = old.clone();
          long start = System.nanoTime();
          ChunkDelta.apply(coded, made, length);
          making += version > 1 ? System.nanoTime() - start : 0;
          if (!Arrays.equals(made, next)) {
            throw new IllegalStateException("a delta made another chunk than it was made of");
          }
        }
        delta += coded.length == 0 ? length : coded.length;
      }
      before = after;
    }
    double bytes = (double) VERSIONS * before.length;
    double timed = (double) (VERSIONS - 1) * ROUNDS * before.length;
    System.out.printf(
        Locale.ROOT,
        "gradients %-20s %5.2f %% of the weights change; a delta is %5.2f %% of the bytes (bar"
            + " %.0f %%); coding %,.0f MB/s, applying %,.0f MB/s%n",
        gradients.title,
        100 * changed / (bytes / Short.BYTES),
        100 * delta / bytes,
        100 * BAR,
        timed / MILLION / (coding / 1e9),
        timed / MILLION / (making / 1e9));
    return delta <= BAR * bytes;
  }

  private void step(int t, Gradients gradients) {
    double correct1 = 1 - Math.pow(BETA1, t);
    double correct2 = 1 - Math.pow(BETA2, t);
    for (int i = 0; i < weights.length; i++) {
      double gradient = gradients == Gradients.NOISE ? gaussian() : 1;
      first[i] = (float) (BETA1 * first[i] + (1 - BETA1) * gradient);
      second[i] = (float) (BETA2 * second[i] + (1 - BETA2) * gradient * gradient);
      double move = first[i] / correct1 / (Math.sqrt(second[i] / correct2) + EPSILON);
      weights[i] -= (float) (LEARNING_RATE * move);
    }
  }

  /** Nearly normal: the sum of four uniform numbers of 16 bits. */
  private double gaussian() {
    long bits = random.nextLong();
    double sum = 0;
    for (int i = 0; i < 4; i++) {
      sum += ((bits >>> (16 * i)) & 0xFFFF) / 65536.0 - .5;
    }
    return sum * Math.sqrt(3);
  }

  private byte[] rounded() {
    byte[] bytes = new byte[Short.BYTES * weights.length];
    for (int i = 0; i < weights.length; i++) {
      short bits = DType.bfloat16(weights[i]);
      bytes[2 * i] = (byte) bits;
      bytes[2 * i + 1] = (byte) (bits >>> Byte.SIZE);
    }
    return bytes;
  }
}
