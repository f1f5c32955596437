package io.troupe.console;

import io.troupe.console.process.JvmReport;
import io.troupe.console.source.NodeFacts;
import io.troupe.console.source.RunSource;
import io.troupe.telemetry.view.RunView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Machines, processes and workers of a run. */
final class NodeViews {
  /** The node of workers whose names have none. */
  private static final String HERE = "this process";

  /**
   * A node and what is on it.
   *
   * @param drainable whether it can be asked to leave
   * @param gauges of the process that looks after it, by name; empty where none can be asked
   * @param jvms processes of the node
   * @param facts the coordinator's knowledge of the node; none or one
   */
  record Node(
      String node,
      boolean drainable,
      List<RunView.WorkerRow> workers,
      Map<String, Double> gauges,
      List<JvmReport.GpuReport> gpus,
      List<OfNode> jvms,
      List<NodeFacts> facts) {}

  /** A process: its name and what it takes. */
  record OfNode(
      String jvm,
      String role,
      Map<String, Double> gauges,
      List<JvmReport.VerifierReport> verifiers) {}

  private NodeViews() {}

  static List<Node> of(RunSource source, List<JvmReport> reports, long now) {
    Map<String, List<RunView.WorkerRow>> workers = new TreeMap<>();
    for (JvmReport report : reports) {
      workers.putIfAbsent(place(report), new ArrayList<>());
    }
    for (RunView.WorkerRow worker : source.fold().weights(now).workers()) {
      workers.computeIfAbsent(place(worker, reports), _ -> new ArrayList<>()).add(worker);
    }
    List<NodeFacts> facts = source.nodes();
    facts.forEach(one -> workers.computeIfAbsent(one.node(), _ -> new ArrayList<>()));
    List<Node> nodes = new ArrayList<>();
    workers.forEach((name, there) -> nodes.add(node(name, there, reports, facts)));
    nodes.sort(
        Comparator.comparing((Node node) -> !node.node().equals(HERE)).thenComparing(Node::node));
    return nodes;
  }

  private static Node node(
      String name,
      List<RunView.WorkerRow> workers,
      List<JvmReport> reports,
      List<NodeFacts> facts) {
    List<JvmReport> there = reports.stream().filter(report -> place(report).equals(name)).toList();
    Map<String, Double> gauges =
        there.stream()
            .filter(report -> !report.role().equals("worker"))
            .findFirst()
            .map(JvmReport::gauges)
            .orElse(Map.of());
    return new Node(
        name,
        there.stream().anyMatch(report -> report.role().equals("node")),
        workers,
        gauges,
        there.stream().flatMap(report -> report.gpus().stream()).toList(),
        there.stream()
            .map(
                report ->
                    new OfNode(report.jvm(), report.role(), report.gauges(), report.verifiers()))
            .toList(),
        facts.stream().filter(one -> one.node().equals(name)).toList());
  }

  private static String place(JvmReport report) {
    return report.node().isEmpty() ? HERE : report.node();
  }

  /** A worker's name begins with its process's, where it has one of its own. */
  private static String place(RunView.WorkerRow worker, List<JvmReport> reports) {
    return reports.stream()
        .filter(report -> report.role().equals("worker"))
        .filter(report -> worker.worker().startsWith(report.jvm() + "-"))
        .findFirst()
        .map(JvmReport::node)
        .orElse(worker.node());
  }
}
