package io.troupe.tracking.feed;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import io.troupe.store.file.StoreJson;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The load of the coordinator's host at one time; a line of {@code tracking/system.jsonl}.
 *
 * @param at since 1970, in milliseconds
 * @param cpu share of the host's processors in use, from 0 to 1
 * @param memoryUsed bytes of the host
 * @param memoryTotal bytes of the host
 * @param diskFree bytes where the run folder is
 * @param gpus of the host
 */
public record SystemSample(
    long at,
    double cpu,
    @JsonProperty("memory_used") long memoryUsed,
    @JsonProperty("memory_total") long memoryTotal,
    @JsonProperty("disk_free") long diskFree,
    List<GpuSample> gpus) {
  private static final double PERCENT = 100;
  private static final double MEBI = 1 << 20;

  /**
   * The load of a GPU.
   *
   * @param utilisation percent; -1 where the driver does not say
   * @param memoryUsed bytes
   * @param memoryTotal bytes
   */
  public record GpuSample(
      int index,
      int utilisation,
      @JsonProperty("memory_used") long memoryUsed,
      @JsonProperty("memory_total") long memoryTotal) {}

  public SystemSample {
    require(at >= 0, "a sample has a time since 1970, not %d", at);
    gpus = List.copyOf(gpus);
  }

  static SystemSample parse(String line) throws JsonProcessingException {
    return StoreJson.LINE.readValue(line, SystemSample.class);
  }

  /** The numbers by the names that MLflow's page of system metrics has. */
  public Map<String, Double> values() {
    Map<String, Double> values = new LinkedHashMap<>();
    values.put("system/cpu_utilization_percentage", PERCENT * cpu);
    values.put("system/system_memory_usage_megabytes", memoryUsed / MEBI);
    values.put(
        "system/system_memory_usage_percentage", PERCENT * memoryUsed / Math.max(1, memoryTotal));
    values.put("system/disk_available_megabytes", diskFree / MEBI);
    for (GpuSample gpu : gpus) {
      String name = "system/gpu_%d_".formatted(gpu.index());
      if (gpu.utilisation() >= 0) {
        values.put(name + "utilization_percentage", (double) gpu.utilisation());
      }
      values.put(name + "memory_usage_megabytes", gpu.memoryUsed() / MEBI);
      values.put(
          name + "memory_usage_percentage",
          PERCENT * gpu.memoryUsed() / Math.max(1, gpu.memoryTotal()));
    }
    return values;
  }
}
