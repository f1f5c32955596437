package io.troupe.cli.doctor;

import java.util.List;
import java.util.stream.Stream;

/** The checks, in the order of their lines. A new matter is a class and a line here. */
public final class MachineChecks {
  private MachineChecks() {}

  /** Returns all checks of this machine. */
  public static List<MachineCheck> of(Machine machine) {
    return List.of(
        new JavaCheck(machine),
        new TorchCheck(machine),
        new CapacityCheck(machine),
        new ToolsCheck(machine));
  }

  /** Returns what the checks find. */
  public static List<CheckResult> run(List<MachineCheck> checks) {
    return checks.stream().flatMap(check -> check.look().stream()).toList();
  }

  /** Whether a run would work. */
  public static boolean sound(List<CheckResult> findings) {
    return Stream.of(findings)
        .flatMap(List::stream)
        .noneMatch(finding -> finding.status() == CheckResult.Status.FAIL);
  }
}
