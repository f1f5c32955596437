package io.troupe.engine.djl.model;

import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.torch.ProgramWeights;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.djl.torch.TorchValue;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** One engine's copy of the program, with the constants that its methods take. */
public final class Decoder implements AutoCloseable {
  private final DecoderSettings settings;
  private final Device device;
  private final Precision precision;
  private final DecoderLayout layout;
  private final int vocabulary;
  private final TorchProgram program;
  private final List<NativeTensor> tables;
  private final TorchValue rotary;
  private final TorchValue sizes;
  private final TorchValue adaptedSizes;
  private final TorchValue epsilon;

  /** Creates a decoder on the CPU, in float32. */
  public Decoder(DecoderSettings settings, int vocabulary) {
    this(settings, vocabulary, Device.host(), Precision.FLOAT32, 1, _ -> {});
  }

  /**
   * Creates a decoder.
   *
   * @param watcher see {@link TorchProgram#load}
   */
  public Decoder(
      DecoderSettings settings,
      int vocabulary,
      Device device,
      Precision precision,
      Consumer<String> watcher) {
    this(settings, vocabulary, device, precision, 1, watcher);
  }

  /**
   * Creates a decoder for a sampler.
   *
   * @param rowMultiple number whose multiples the rows of each product of a decode step are
   */
  public Decoder(
      DecoderSettings settings,
      int vocabulary,
      Device device,
      Precision precision,
      int rowMultiple,
      Consumer<String> watcher) {
    this.settings = settings;
    this.device = device;
    this.precision = precision;
    this.vocabulary = vocabulary;
    this.layout = DecoderLayout.of(settings, vocabulary);
    this.program = TorchProgram.load(watcher);
    this.tables = rotaryTables(settings, device);
    this.rotary = TorchValue.of(tables);
    this.sizes = sizes(settings, 0, device, precision, rowMultiple);
    this.adaptedSizes = sizes(settings, 1, device, precision, rowMultiple);
    this.epsilon = TorchValue.of(settings.normEpsilon());
  }

  /** Returns the sizes that the program calls G. */
  private static TorchValue sizes(
      DecoderSettings s, long adapted, Device device, Precision precision, int rowMultiple) {
    return TorchValue.of(
        new long[] {
          s.layers(),
          s.heads(),
          s.kvHeads(),
          s.headDim(),
          s.family().normedHeads() ? 1 : 0,
          s.family().biases() ? 1 : 0,
          adapted,
          precision.number(),
          device.equals(Device.host()) ? 0 : 1,
          rowMultiple
        });
  }

  public DecoderSettings settings() {
    return settings;
  }

  public DecoderLayout layout() {
    return layout;
  }

  Device device() {
    return device;
  }

  Precision precision() {
    return precision;
  }

  public int vocabulary() {
    return vocabulary;
  }

  /** Begins a call whose first arguments are weights, rotary tables, sizes and epsilon. */
  public TorchProgram.Call call(String method, ProgramWeights weights) {
    return program.call(method).with(weights.all()).with(rotary).with(sizes).with(epsilon);
  }

  /**
   * Begins a call whose first arguments are the leaves of a step, rotary tables, sizes and epsilon.
   */
  public TorchProgram.Call call(String method, GradientLeaves leaves) {
    TorchValue shape = leaves.adapted() ? adaptedSizes : sizes;
    return program.call(method).with(leaves.all()).with(rotary).with(shape).with(epsilon);
  }

  /** Begins a call whose first arguments are rotary tables, sizes and epsilon. */
  public TorchProgram.Call joining(String method) {
    return withoutWeights(method).with(epsilon);
  }

  /** Begins a call whose first arguments are rotary tables and sizes. */
  public TorchProgram.Call withoutWeights(String method) {
    return program.call(method).with(rotary).with(sizes);
  }

  /** Creates a tensor of zeros on the host, for the input of a call. */
  public NativeTensor zeros(ElementType type, long... shape) {
    return program.zeros(type, shape);
  }

  /** Zeros where the decoder computes. */
  public NativeTensor zerosThere(ElementType type, long... shape) {
    return program.zeros(device, type, shape);
  }

  /** Returns a copy of a flat array in a precision. */
  NativeTensor converted(NativeTensor flat, FlatLayout layout, Precision precision) {
    try (TorchProgram.Call call = call("converted")) {
      call.with(flat).with((long) precision.number());
      return precision == Precision.FLOAT32 && device.equals(Device.host())
          ? call.tensor(ElementType.FLOAT32, layout.capacity())
          : call.opaque();
    }
  }

  /** Begins a call without constants. */
  public TorchProgram.Call call(String method) {
    return program.call(method);
  }

  /**
   * Cosines and sines of position times frequency, [context, d / 2] each, times the magnitude of
   * the scaling. StrictMath: the same on every machine.
   */
  private static List<NativeTensor> rotaryTables(DecoderSettings s, Device device) {
    int half = s.headDim() / 2;
    NativeTensor cosines = NativeTensor.zeros(ElementType.FLOAT32, s.contextLength(), half);
    NativeTensor sines = NativeTensor.zeros(ElementType.FLOAT32, s.contextLength(), half);
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
    return Stream.of(cosines, sines).map(table -> copiedWeights(table, device, half, s)).toList();
  }

  private static NativeTensor copiedWeights(
      NativeTensor table, Device device, int half, DecoderSettings s) {
    if (device.equals(Device.host())) {
      return table;
    }
    try (table) {
      NativeTensor there = NativeTensor.zeros(device, ElementType.FLOAT32, s.contextLength(), half);
      there.assign(table, s.contextLength(), half);
      return there;
    }
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
