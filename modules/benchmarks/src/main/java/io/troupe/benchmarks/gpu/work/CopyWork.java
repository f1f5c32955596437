package io.troupe.benchmarks.gpu.work;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.troupe.accelerator.nccl.CudaRuntime;
import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuMeasurement.Bar;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuShape;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.Torch;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Copies of the size of 1.7B in bfloat16: by the CUDA runtime from pageable and from pinned memory,
 * and as the engine copies today.
 */
record CopyWork() implements GpuWork {
  private static final int ROUNDS = 3;
  private static final int PAGE = 4096;
  private static final double GB = 1e9;
  private static final Bar PINNED = Bar.atLeast(20);

  @Override
  public Outcome measure(GpuSetting setting) throws IOException, InterruptedException {
    long bytes =
        Math.ceilDiv(setting.shape(GpuShape.QWEN3_1_7B).parameters() * Short.BYTES, PAGE) * PAGE;
    JsonNode theirs = JsonNodeFactory.instance.objectNode();
    List<String> notes = new ArrayList<>();
    try (GpuPython python = GpuPython.start(setting)) {
      if (python.present()) {
        theirs = python.call("copies", Map.of("bytes", bytes, "rounds", ROUNDS));
      } else {
        notes.add(python.describe());
      }
    }
    List<GpuMeasurement> found = new ArrayList<>(byRuntime(setting, bytes, theirs));
    found.addAll(byEngine(setting, bytes, theirs));
    return new Outcome(found, notes);
  }

  private static GpuMeasurement row(
      String name, double seconds, long bytes, JsonNode theirs, String key, Bar bar) {
    return new GpuMeasurement(
        GpuRow.G5, name, "GB/s", bytes / seconds / GB, GpuPython.number(theirs, key), bar);
  }

  private static List<GpuMeasurement> byRuntime(GpuSetting setting, long bytes, JsonNode theirs) {
    CudaRuntime cuda = setting.runtime();
    MemorySegment stream = cuda.newStream();
    long there = cuda.allocate(bytes);
    List<GpuMeasurement> found = new ArrayList<>();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment host = arena.allocate(bytes, PAGE);
      for (boolean pinned : List.of(false, true)) {
        String kind = pinned ? "pinned" : "pageable";
        Bar bar = pinned ? PINNED : Bar.NONE;
        if (pinned) {
          cuda.pin(host);
        }
        double up = seconds(cuda, stream, host.address(), there, bytes);
        double down = seconds(cuda, stream, there, host.address(), bytes);
        found.add(row("to the device, " + kind, up, bytes, theirs, kind + "_to_device", bar));
        found.add(row("to the host, " + kind, down, bytes, theirs, kind + "_to_host", bar));
        if (pinned) {
          cuda.unpin(host);
        }
      }
    } finally {
      cuda.free(there);
      cuda.destroy(stream);
    }
    return found;
  }

  private static double seconds(
      CudaRuntime cuda, MemorySegment stream, long from, long to, long bytes) {
    long start = 0;
    for (int round = -1; round < ROUNDS; round++) {
      if (round == 0) {
        start = System.nanoTime();
      }
      cuda.copy(from, to, bytes, stream);
      while (!cuda.isDone(stream)) {
        Thread.onSpinWait();
      }
    }
    return (System.nanoTime() - start) / 1e9 / ROUNDS;
  }

  /** Weights and gradients pass through pageable copies that PyTorch makes. */
  private static List<GpuMeasurement> byEngine(GpuSetting setting, long bytes, JsonNode theirs) {
    Torch.load();
    Torch.enter(1, false);
    long elements = bytes / Float.BYTES;
    try (NativeTensor there = NativeTensor.zeros(setting.device(), ElementType.FLOAT32, elements);
        NativeTensor here = NativeTensor.zeros(ElementType.FLOAT32, elements);
        DeviceClock clock = DeviceClock.of(setting)) {
      there.assign(here, elements);
      clock.await();
      long start = System.nanoTime();
      there.assign(here, elements);
      clock.await();
      double up = (System.nanoTime() - start) / 1e9;
      start = System.nanoTime();
      NativeTensor back = there.toHost(ElementType.FLOAT32, elements);
      double down = (System.nanoTime() - start) / 1e9;
      back.close();
      GpuMeasurement upward =
          row("to the device, by the engine", up, bytes, theirs, "pageable_to_device", Bar.NONE);
      // A tensor of the host is not copied to the host.
      return setting.rehearsal()
          ? List.of(upward)
          : List.of(
              upward,
              row("to the host, by the engine", down, bytes, theirs, "pageable_to_host", Bar.NONE));
    }
  }
}
