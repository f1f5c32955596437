package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.environments.box.BoxTool;
import io.troupe.environments.command.ProgramSettings;
import io.troupe.environments.registry.Environments;
import java.time.Duration;
import java.util.List;

/** The provider of the policy's tools. */
public record EnvironmentSection(
    @Doc("An environment in Java, by its name: `calculator`, or one of a jar on the class path.")
        @Default("")
        String name,
    @Doc(
            "Program and arguments of an environment that is asked by lines of JSON; empty means"
                + " none.")
        List<String> command,
    @Doc("Variables of the programs' environment, each `NAME=value`.") List<String> variables,
    @Doc(
            value =
                "Episodes at a time that have a process or a sandbox, of each worker and of an"
                    + " evaluation.",
            unit = "processes")
        @Default("16")
        @Range(min = 1, max = 500)
        int count,
    @Doc("Longest wait for a program's reply; one that is silent for longer has failed.")
        @Default("30s")
        @Range(min = 0.001)
        Duration timeout,
    @Doc(
            "Tools in a sandbox of each episode: `python` and `shell`, sessions that live over the"
                + " turns, and `files` of their folder.")
        List<BoxTool> tools,
    @Doc("What an episode may take in its sandbox.") BoxSection sandbox,
    @Doc(
            "An MCP server, which the episodes of a worker share: program and arguments of one on"
                + " standard input and output, or the URL of one behind HTTP and headers, each"
                + " `Name: value`; empty means none.")
        List<String> mcp)
    implements Validated {
  /** Returns the settings of a program's process. */
  public ProgramSettings program(List<String> words) {
    return new ProgramSettings(
        words, ProgramVariables.byName(variables), count, timeout, ProgramSettings.LINE_BYTES);
  }

  /** Whether there is no tool at all. */
  public boolean isEmpty() {
    return name.isEmpty() && command.isEmpty() && tools.isEmpty() && mcp.isEmpty();
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("name")
        .require(
            () -> name.isEmpty() || Environments.names().contains(name),
            "must be one of %s".formatted(Environments.names()),
            "name one of these, or put the jar with yours on the class path (TROUPE_CLASS_PATH)");
    ProgramVariables.check(rules, "variables", variables);
  }
}
