package io.troupe.cli.doctor;

import static java.util.stream.Collectors.joining;

import io.troupe.launch.remote.GpuUse;
import io.troupe.launch.remote.HostDiagnosis;
import java.util.ArrayList;
import java.util.List;

/** The hosts of a cluster: what prevents a launch, and what their GPUs do. */
final class HostsCheck {
  private HostsCheck() {}

  /** A line for each host, for its GPUs and for what it cannot reach, and one for the drivers. */
  static List<CheckResult> findings(List<HostDiagnosis> hosts) {
    List<CheckResult> findings = new ArrayList<>();
    for (HostDiagnosis each : hosts) {
      findings.add(
          each.problems().isEmpty()
              ? CheckResult.ok(each.host(), each.facts())
              : CheckResult.fail(
                  each.host(), each.facts(), String.join("\n        ", each.problems())));
      if (!each.gpus().isEmpty()) {
        findings.add(gpus(each));
      }
      if (!each.blocked().isEmpty()) {
        findings.add(
            CheckResult.fail(
                each.host(),
                "cannot reach " + String.join(", ", each.blocked()),
                "let the hosts reach each other: security groups, a firewall, or names that do not"
                    + " resolve there"));
      }
    }
    List<String> drivers = hosts.stream().flatMap(each -> each.drivers().stream()).toList();
    if (drivers.stream().distinct().count() > 1) {
      findings.add(
          CheckResult.warn(
              "drivers",
              hosts.stream()
                  .map(each -> each.host() + " " + String.join(" and ", each.drivers()))
                  .collect(joining(", ")),
              "install the same version of NVIDIA's driver on all"));
    }
    return findings;
  }

  private static CheckResult gpus(HostDiagnosis host) {
    String name = host.host();
    String detail = host.gpus().stream().map(GpuUse::toString).collect(joining(", "));
    boolean zombie =
        host.gpus().stream().anyMatch(gpu -> gpu.occupation() == GpuUse.Occupation.ZOMBIE);
    boolean busy = host.gpus().stream().anyMatch(gpu -> gpu.occupation() == GpuUse.Occupation.BUSY);
    if (zombie) {
      return CheckResult.warn(
          name,
          detail,
          "see who holds the memory: nvidia-smi --query-compute-apps=pid,name --format=csv");
    }
    return busy
        ? CheckResult.warn(name, detail, "a run does not use GPUs that others use")
        : CheckResult.ok(name, detail);
  }
}
