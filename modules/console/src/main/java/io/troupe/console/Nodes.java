package io.troupe.console;

import com.sun.management.OperatingSystemMXBean;
import io.troupe.telemetry.view.RunView;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Machines and workers of a run. */
final class Nodes {
  /**
   * A node and its workers.
   *
   * @param gauges of its JVM, by name; empty for a node of another process
   */
  record Node(String node, List<RunView.WorkerRow> workers, Map<String, Double> gauges) {}

  private Nodes() {}

  static List<Node> of(RunSource source, long now) {
    Map<String, List<RunView.WorkerRow>> byNode = new TreeMap<>();
    if (source.live()) {
      byNode.put("this process", new ArrayList<>());
    }
    for (RunView.WorkerRow worker : source.fold().weights(now).workers()) {
      byNode.computeIfAbsent(worker.node(), _ -> new ArrayList<>()).add(worker);
    }
    List<Node> nodes = new ArrayList<>();
    byNode.forEach(
        (name, workers) ->
            nodes.add(
                new Node(
                    name,
                    workers,
                    source.live() && name.equals("this process") ? gauges() : Map.of())));
    return nodes;
  }

  private static Map<String, Double> gauges() {
    Map<String, Double> gauges = new TreeMap<>();
    Runtime jvm = Runtime.getRuntime();
    gauges.put("heap_used_bytes", (double) (jvm.totalMemory() - jvm.freeMemory()));
    gauges.put("heap_max_bytes", (double) jvm.maxMemory());
    gauges.put("cores", (double) jvm.availableProcessors());
    gauges.put("threads", (double) ManagementFactory.getThreadMXBean().getThreadCount());
    if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean machine) {
      gauges.put("process_cpu_share", machine.getProcessCpuLoad());
      gauges.put("machine_cpu_share", machine.getCpuLoad());
      gauges.put("machine_memory_bytes", (double) machine.getTotalMemorySize());
      gauges.put("machine_memory_free_bytes", (double) machine.getFreeMemorySize());
    }
    return gauges;
  }
}
