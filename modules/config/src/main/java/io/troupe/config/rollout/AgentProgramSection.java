package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Programs that ask the policy over HTTP: started by workers, or anywhere. */
public record AgentProgramSection(
    @Doc("Program and arguments, started beside each worker; empty means that none is.")
        List<String> command,
    @Doc("Variables of its environment, each `NAME=value`.") List<String> environment,
    @Doc(
            value = "Agents at a time of each worker, and of an evaluation beside them.",
            unit = "processes")
        @Default("8")
        @Range(min = 1, max = 1000)
        int count,
    @Doc(
            value =
                "Tasks that a process takes, one after the other; with more than 1 it reads them as"
                    + " lines and ends each with a line.",
            unit = "tasks")
        @Default("1")
        @Range(min = 1, max = 1_000_000)
        int tasksPerProcess,
    @Doc("An agent that takes longer is ended, and its last answer is judged.")
        @Default("50s")
        @Range(min = 0.001)
        Duration timeout,
    @Doc("What a process of the command may do.") AgentSandboxSection sandbox,
    @Doc("Agents that run anywhere and ask for their tasks, in place of the command.")
        RemoteAgentsSection remote)
    implements Validated {
  /** Whether an agent program asks the policy. */
  public boolean isUsed() {
    return !command.isEmpty() || remote.isUsed();
  }

  /** The variables by name. */
  public Map<String, String> variables() {
    return ProgramVariables.byName(environment);
  }

  @Override
  public void check(RuleChecker rules) {
    ProgramVariables.check(rules, "environment", environment);
    rules
        .on("remote.listen", "command")
        .require(
            () -> command.isEmpty() || !remote.isUsed(),
            "must be empty beside episode.agent.command: agents are started here, or ask from anywhere",
            "leave one of them out");
  }
}
