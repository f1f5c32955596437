package io.troupe.app.doctor;

import java.util.List;
import java.util.stream.Stream;

/** The checks, in the order of their lines. A new matter is a class and a line here. */
public final class Checks {
  private Checks() {}

  /** All checks of this machine. */
  public static List<Check> of(Machine machine) {
    return List.of(
        new JavaCheck(machine),
        new TorchCheck(machine),
        new CapacityCheck(machine),
        new ToolsCheck(machine));
  }

  /** What they find. */
  public static List<Finding> run(List<Check> checks) {
    return checks.stream().flatMap(check -> check.look().stream()).toList();
  }

  /** Whether a run would work. */
  public static boolean sound(List<Finding> findings) {
    return Stream.of(findings)
        .flatMap(List::stream)
        .noneMatch(finding -> finding.status() == Finding.Status.FAIL);
  }
}
