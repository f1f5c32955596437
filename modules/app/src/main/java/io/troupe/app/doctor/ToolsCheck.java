package io.troupe.app.doctor;

import java.util.List;

/** Programs that only some tasks need. */
record ToolsCheck(Machine machine) implements Check {
  @Override
  public List<Finding> look() {
    return List.of(
        tool("bwrap", "verifiers that run code keep it in a sandbox: install bubblewrap"),
        tool("python3", "verifiers of Python code need it: install python3"));
  }

  private Finding tool(String name, String next) {
    return machine
        .program(name)
        .map(file -> Finding.ok(name, file.toString()))
        .orElseGet(() -> Finding.warn(name, "not found on PATH", next));
  }
}
