package io.troupe.cli.command;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The option that overrides keys of a configuration. */
public final class OverrideOption {
  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Overrides a key of the configuration; may be given many times.")
  private List<String> overrides = new ArrayList<>();

  /** Adds assignments that those of the command line override. */
  public void putFirst(List<String> assignments) {
    overrides.addAll(0, assignments);
  }

  /** Assignments, in the order of the command line. */
  public List<String> values() {
    return List.copyOf(overrides);
  }
}
