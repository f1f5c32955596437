package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A program that asks the policy over HTTP, one process for each episode. */
public record AgentProgramSection(
    @Doc("Program and arguments; empty means that episodes have no agent.") List<String> command,
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
        Duration timeout)
    implements Validated {
  /** The variables by name. */
  public Map<String, String> variables() {
    return ProgramVariables.byName(environment);
  }

  @Override
  public void check(RuleChecker rules) {
    ProgramVariables.check(rules, "environment", environment);
  }
}
