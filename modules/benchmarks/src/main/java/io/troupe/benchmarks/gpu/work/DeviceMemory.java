package io.troupe.benchmarks.gpu.work;

import io.troupe.accelerator.nccl.CudaRuntime;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.harness.ProcessMemory;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Watches the most memory that a device has in use, caches of allocators and CUDA's own part
 * included; of the CPU, the most memory that this process had. CUDA has no counter of the most, so
 * a thread looks every few milliseconds; PyTorch's allocator returns nothing meanwhile.
 */
final class DeviceMemory implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofMillis(5);

  private final GpuSetting setting;
  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread watcher;
  private volatile long most;

  private DeviceMemory(GpuSetting setting) {
    this.setting = setting;
    this.watcher = Thread.ofPlatform().daemon().name("device-memory").unstarted(this::watch);
  }

  static DeviceMemory watch(GpuSetting setting) {
    DeviceMemory memory = new DeviceMemory(setting);
    if (!setting.rehearsal()) {
      memory.watcher.start();
    }
    return memory;
  }

  /** Returns the bytes in use on the device now, by all processes; 0 in a rehearsal. */
  static long used(GpuSetting setting) {
    return setting.rehearsal() ? 0 : setting.runtime().memory(0).used();
  }

  private void watch() {
    CudaRuntime runtime = setting.runtime();
    try {
      do {
        most = Math.max(most, runtime.memory(0).used());
      } while (!over.await(PERIOD.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the most bytes so far. */
  long most() throws IOException {
    return setting.rehearsal()
        ? ProcessMemory.read().peakKib() << 10
        : Math.max(most, used(setting));
  }

  @Override
  public void close() {
    over.countDown();
  }
}
