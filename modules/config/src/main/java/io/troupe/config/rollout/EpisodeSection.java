package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.time.Duration;

/** The form of an episode: one answer, or turns with tools between them. */
public record EpisodeSection(
    @Doc("What has tools that the policy may call; without any, an episode is one answer.")
        EnvironmentSection environment,
    @Doc(
            "How the policy calls tools: `inline`, in square brackets, for policies without a chat"
                + " template; `hermes`, as Qwen2.5 and Qwen3 do; `llama`, as Llama 3 does.")
        @Default("inline")
        Format format,
    @Doc(value = "Most answers of an episode.", unit = "turns")
        @Default("4")
        @Range(min = 1, max = 10_000)
        int maxTurns,
    @Doc(value = "Most calls of tools in an episode.", unit = "calls")
        @Default("16")
        @Range(min = 1, max = 100_000)
        int maxToolCalls,
    @Doc("An episode ends with the first call that takes longer.")
        @Default("10s")
        @Range(min = 0.001)
        Duration toolTimeout,
    @Doc(
            "What follows a call that cannot be read: the policy is shown an error (`feed_back`), or"
                + " the episode ends (`end`).")
        @Default("feed_back")
        ParseErrors parseErrors,
    @Doc("A program of yours that asks the policy over HTTP and runs its own tools.")
        AgentProgramSection agent)
    implements Validated {
  /** The most time that a sandbox needs to end a call that is late, or to start. */
  private static final Duration SANDBOX_END = Duration.ofSeconds(5);

  /** The format in which the policy calls tools. */
  public enum Format {
    INLINE,
    HERMES,
    LLAMA
  }

  /** The consequence of a call that cannot be read. */
  public enum ParseErrors {
    FEED_BACK,
    END
  }

  /** Whether the policy calls tools of an environment. */
  public boolean hasTools() {
    return !environment.isEmpty();
  }

  /** Whether an agent program asks the policy. */
  public boolean hasAgent() {
    return agent.isUsed();
  }

  /** Whether an episode may have more than one answer. */
  public boolean hasTurns() {
    return hasTools() || hasAgent();
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on(
            "agent.command",
            "agent.remote.listen",
            "environment.name",
            "environment.command",
            "environment.tools")
        .require(
            () -> !(hasTools() && hasAgent()),
            "must be empty beside episode.environment: an agent has tools of its own",
            "leave one of them out");
    rules
        .on("tool_timeout", "environment.sandbox.timeout", "environment.tools")
        .require(
            () ->
                environment.tools().isEmpty()
                    || toolTimeout.compareTo(environment.sandbox().timeout().plus(SANDBOX_END))
                        >= 0,
            "must exceed episode.environment.sandbox.timeout by %d s, in which a sandbox ends what is late"
                .formatted(SANDBOX_END.toSeconds()),
            "raise it, or lower episode.environment.sandbox.timeout");
  }
}
