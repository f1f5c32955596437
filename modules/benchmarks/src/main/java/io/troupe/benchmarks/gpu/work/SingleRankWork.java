package io.troupe.benchmarks.gpu.work;

import io.troupe.accelerator.nccl.NcclCollective;
import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.TensorSpans;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.OptionalDouble;

/**
 * Every operation of a group of one, on memory of a tensor: the numbers must come back unchanged
 * after each of many rounds.
 */
record SingleRankWork() implements GpuWork {
  private static final int ELEMENTS = 1 << 16;
  private static final int ROUNDS = 1000;
  private static final int REHEARSED = 50;
  private static final int OPERATIONS = 6;
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final double MICROS = 1e6;

  @Override
  public Outcome measure(GpuSetting setting) throws IOException {
    Torch.load();
    Torch.enter(1, false);
    NcclCollective.Libraries libraries = setting.libraries();
    int rounds = setting.rehearsal() ? REHEARSED : ROUNDS;
    double seconds = 0;
    try (NativeTensor pattern = pattern();
        NativeTensor tensor = NativeTensor.zeros(setting.device(), ElementType.FLOAT32, ELEMENTS);
        DeviceClock clock = DeviceClock.of(setting);
        NcclCollective group =
            NcclCollective.join(libraries, libraries.nccl().newUniqueId(), 0, 1, DEADLINE)) {
      tensor.assign(pattern, ELEMENTS);
      clock.await();
      Span.Device span = TensorSpans.load().of(tensor, Span.Element.F32, ELEMENTS);
      long piece = libraries.cuda().allocate(span.bytes());
      try {
        for (int round = 0; round < rounds; round++) {
          long start = System.nanoTime();
          operations(group, span, Span.onDevice(piece, span.bytes(), Span.Element.F32), round);
          seconds += (System.nanoTime() - start) / 1e9;
          requireUnchanged(tensor, round);
        }
      } finally {
        libraries.cuda().free(piece);
      }
    } catch (RankLostException lost) {
      throw new IOException("NCCL with a group of one: " + lost.getMessage(), lost);
    }
    return Outcome.of(
        row("rounds of all operations with the right numbers", "rounds", rounds),
        row("an operation on 256 KiB", "µs", seconds / rounds / OPERATIONS * MICROS));
  }

  private static GpuMeasurement row(String name, String unit, double value) {
    return new GpuMeasurement(
        GpuRow.G6, name, unit, value, OptionalDouble.empty(), GpuMeasurement.Bar.NONE);
  }

  private static NativeTensor pattern() {
    NativeTensor pattern = NativeTensor.zeros(ElementType.FLOAT32, ELEMENTS);
    MemorySegment numbers = pattern.memory();
    for (int i = 0; i < ELEMENTS; i++) {
      numbers.setAtIndex(ValueLayout.JAVA_FLOAT, i, value(i));
    }
    return pattern;
  }

  private static float value(int i) {
    return (float) StrictMath.sin(i);
  }

  /**
   * Measures each operation; an operation of one rank leaves the numbers as they are, and the last
   * one brings them back.
   */
  private static void operations(NcclCollective group, Span all, Span piece, int round)
      throws RankLostException, IOException {
    group.allReduce(all);
    group.broadcast(all, 0);
    group.reduceScatter(all, piece);
    group.allGather(piece, all);
    double[] numbers = {round, -round};
    group.allReduce(numbers);
    if (numbers[0] != round || numbers[1] != -round) {
      throw new IOException("round %d: the sums of one rank are %s".formatted(round, numbers[0]));
    }
    group.barrier();
  }

  private static void requireUnchanged(NativeTensor tensor, int round) throws IOException {
    try (NativeTensor host = tensor.toHost(ElementType.FLOAT32, ELEMENTS)) {
      MemorySegment numbers = host.memory();
      for (int i = 0; i < ELEMENTS; i++) {
        float found = numbers.getAtIndex(ValueLayout.JAVA_FLOAT, i);
        if (found != value(i)) {
          throw new IOException(
              "round %d: element %d is %s, not %s".formatted(round, i, found, value(i)));
        }
      }
    }
  }
}
