package io.troupe.benchmarks.gpu.work;

import io.troupe.accelerator.nccl.CudaRuntime;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Waits until a device has done what was begun on the default stream, on which PyTorch computes, so
 * that a time ends with the work and not with its launch. The CPU has done it when a call returns.
 */
record DeviceClock(Optional<CudaRuntime> runtime) implements AutoCloseable {
  static DeviceClock of(GpuSetting setting) {
    return new DeviceClock(setting.rehearsal() ? Optional.empty() : Optional.of(setting.runtime()));
  }

  void await() {
    if (runtime.isPresent()) {
      while (!runtime.get().isDone(MemorySegment.NULL)) {
        Thread.onSpinWait();
      }
    }
  }

  @Override
  public void close() {
    await();
  }
}
