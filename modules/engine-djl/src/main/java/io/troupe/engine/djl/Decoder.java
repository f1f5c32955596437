package io.troupe.engine.djl;

import io.troupe.engine.djl.NativeTensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** One engine's copy of the program, with the constants that every method of it takes. */
final class Decoder implements AutoCloseable {
  private final DecoderSettings settings;
  private final DecoderLayout layout;
  private final int vocabulary;
  private final Program program;
  private final List<NativeTensor> tables;
  private final Value rotary;
  private final Value sizes;
  private final Value adaptedSizes;
  private final Value epsilon;

  Decoder(DecoderSettings settings, int vocabulary) {
    this.settings = settings;
    this.vocabulary = vocabulary;
    this.layout = DecoderLayout.of(settings, vocabulary);
    this.program = Program.load();
    this.tables = rotaryTables(settings);
    this.rotary = Value.of(tables);
    this.sizes = sizes(settings, 0);
    this.adaptedSizes = sizes(settings, 1);
    this.epsilon = Value.of(settings.normEpsilon());
  }

  /** The program's G. */
  private static Value sizes(DecoderSettings s, long adapted) {
    return Value.of(
        new long[] {
          s.layers(),
          s.heads(),
          s.kvHeads(),
          s.headDim(),
          s.family().normedHeads() ? 1 : 0,
          s.family().biases() ? 1 : 0,
          adapted
        });
  }

  DecoderSettings settings() {
    return settings;
  }

  DecoderLayout layout() {
    return layout;
  }

  int vocabulary() {
    return vocabulary;
  }

  /** A call that begins with weights, rotary tables, sizes and epsilon. */
  Program.Call call(String method, Weights weights) {
    return program.call(method).with(weights.all()).with(rotary).with(sizes).with(epsilon);
  }

  /** The same with a step's leaves for weights. */
  Program.Call call(String method, Leaves leaves) {
    Value shape = leaves.adapted() ? adaptedSizes : sizes;
    return program.call(method).with(leaves.all()).with(rotary).with(shape).with(epsilon);
  }

  /** A call without these. */
  Program.Call call(String method) {
    return program.call(method);
  }

  /**
   * Cosines and sines of position times frequency, [context, d / 2] each, times the magnitude of
   * the scaling. StrictMath: the same on every machine.
   */
  private static List<NativeTensor> rotaryTables(DecoderSettings s) {
    int half = s.headDim() / 2;
    NativeTensor cosines = NativeTensor.zeros(DType.FLOAT32, s.contextLength(), half);
    NativeTensor sines = NativeTensor.zeros(DType.FLOAT32, s.contextLength(), half);
    MemorySegment cos = cosines.memory();
    MemorySegment sin = sines.memory();
    double[] frequencies = s.ropeScaling().frequencies(s.ropeTheta(), s.headDim());
    double magnitude = s.ropeScaling().magnitude();
    for (int j = 0; j < half; j++) {
      for (int position = 0; position < s.contextLength(); position++) {
        long i = (long) position * half + j;
        double angle = position * frequencies[j];
        cos.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) (magnitude * StrictMath.cos(angle)));
        sin.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) (magnitude * StrictMath.sin(angle)));
      }
    }
    return List.of(cosines, sines);
  }

  @Override
  public void close() {
    rotary.close();
    sizes.close();
    adaptedSizes.close();
    epsilon.close();
    tables.forEach(NativeTensor::close);
    program.close();
  }
}
