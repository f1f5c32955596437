package io.troupe.run.console;

import io.troupe.console.process.JvmReport;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The orders to processes that make sense, by the processes' reports. */
final class ProcessOrderRules {
  private static final String QUARANTINED = "quarantined";

  private ProcessOrderRules() {}

  static Optional<String> objectionToQuarantine(List<JvmReport> reports, String name) {
    Optional<JvmReport> holder = holder(reports, name);
    if (holder.isEmpty()) {
      return Optional.of(noSuch(reports, name));
    }
    JvmReport.VerifierReport verifier = verifier(holder.get(), name);
    if (verifier.doing().equals(QUARANTINED)) {
      return Optional.of("%s is under quarantine already".formatted(name));
    }
    boolean last =
        holder.get().verifiers().stream()
                .filter(one -> one.pool().equals(verifier.pool()))
                .filter(one -> !one.doing().equals(QUARANTINED))
                .count()
            == 1;
    return last
        ? Optional.of(
            "%s is the last verifier of %s at work in its process, and every group there would"
                    .formatted(name, verifier.pool())
                + " wait for it; release another one first, or run more (verifier.workers)")
        : Optional.empty();
  }

  static Optional<String> objectionToRelease(List<JvmReport> reports, String name) {
    Optional<JvmReport> holder = holder(reports, name);
    if (holder.isEmpty()) {
      return Optional.of(noSuch(reports, name));
    }
    return verifier(holder.get(), name).doing().equals(QUARANTINED)
        ? Optional.empty()
        : Optional.of("%s is not under quarantine".formatted(name));
  }

  static Optional<String> objectionToDrain(List<JvmReport> reports, String node) {
    List<String> nodes =
        reports.stream().filter(one -> one.role().equals("node")).map(JvmReport::jvm).toList();
    if (nodes.isEmpty()) {
      return Optional.of(
          "this run has no nodes of their own: its workers are in the process of its coordinator."
              + " Drain a worker (troupe drain --worker NAME), or the run (troupe drain)");
    }
    return nodes.contains(node)
        ? Optional.empty()
        : Optional.of(
            "there is no node '%s'; there are %s".formatted(node, String.join(", ", nodes)));
  }

  private static Optional<JvmReport> holder(List<JvmReport> reports, String name) {
    return reports.stream()
        .filter(report -> report.verifiers().stream().anyMatch(one -> one.name().equals(name)))
        .findFirst();
  }

  private static JvmReport.VerifierReport verifier(JvmReport report, String name) {
    return report.verifiers().stream()
        .filter(one -> one.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static String noSuch(List<JvmReport> reports, String name) {
    String known =
        reports.stream()
            .flatMap(report -> report.verifiers().stream())
            .map(JvmReport.VerifierReport::name)
            .collect(Collectors.joining(", "));
    return known.isEmpty()
        ? "there is no verifier '%s': this run has none".formatted(name)
        : "there is no verifier '%s'; there are %s".formatted(name, known);
  }
}
