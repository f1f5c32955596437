package io.troupe.tracking;

import com.sun.management.OperatingSystemMXBean;
import io.troupe.hosts.gpu.Gpu;
import io.troupe.hosts.gpu.GpuProbeException;
import io.troupe.hosts.gpu.NvidiaSmi;
import io.troupe.store.file.JsonLinesFile;
import io.troupe.store.file.StoreJson;
import io.troupe.tracking.feed.SystemSample;
import io.troupe.tracking.feed.SystemSample.GpuSample;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Writes what this host is doing to {@code tracking/system.jsonl}, at an interval. */
final class SystemSampler implements Runnable {
  private static final Duration GPU_DEADLINE = Duration.ofSeconds(5);

  private final JsonLinesFile file;
  private final Path folder;
  private final Duration every;
  private final TrackingClock clock;
  private final Consumer<String> say;
  private final OperatingSystemMXBean host =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private boolean gpus = NvidiaSmi.installed();

  /**
   * A sampler that was not started yet.
   *
   * @param folder folder whose disk is observed
   * @param say takes a sentence when the GPUs cannot be asked
   */
  SystemSampler(
      JsonLinesFile file, Path folder, Duration every, TrackingClock clock, Consumer<String> say) {
    this.file = file;
    this.folder = folder;
    this.every = every;
    this.clock = clock;
    this.say = say;
  }

  @Override
  public void run() {
    host.getCpuLoad(); // The first answer covers the time before this process.
    while (clock.pause(every) && !clock.ending()) {
      try {
        file.write(StoreJson.LINE.valueToTree(sample()));
      } catch (IOException unknown) {
        say.accept("system metrics: " + unknown.getMessage());
      }
    }
  }

  private SystemSample sample() throws IOException {
    long total = host.getTotalMemorySize();
    return new SystemSample(
        System.currentTimeMillis(),
        Math.clamp(host.getCpuLoad(), 0, 1),
        total - host.getFreeMemorySize(),
        total,
        Files.getFileStore(folder).getUsableSpace(),
        gpuSamples());
  }

  private List<GpuSample> gpuSamples() {
    if (!gpus) {
      return List.of();
    }
    try {
      return new NvidiaSmi(List.of(NvidiaSmi.COMMAND), GPU_DEADLINE)
          .read().stream().map(SystemSampler::sample).toList();
    } catch (GpuProbeException broken) {
      gpus = false;
      say.accept("GPUs are left out of the system metrics: " + broken.getMessage());
      return List.of();
    }
  }

  private static GpuSample sample(Gpu gpu) {
    return new GpuSample(
        gpu.index(), gpu.utilisation().orElse(-1), gpu.usedBytes(), gpu.memoryBytes());
  }
}
