package io.troupe.cli.doctor;

import java.util.List;

/** Programs that only some tasks need. */
record ToolsCheck(Machine machine) implements MachineCheck {
  @Override
  public List<CheckResult> look() {
    return List.of(
        tool("bwrap", "verifiers that run code keep it in a sandbox: install bubblewrap"),
        tool("python3", "verifiers of Python code need it: install python3"));
  }

  private CheckResult tool(String name, String next) {
    return machine
        .program(name)
        .map(file -> CheckResult.ok(name, file.toString()))
        .orElseGet(() -> CheckResult.warn(name, "not found on PATH", next));
  }
}
