package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.core.reward.PassMark;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The pools that score completions. */
public record VerifierSection(
    @Doc(value = "Completions verified at a time, by each kind of verifier.", unit = "workers")
        @Default("2")
        @Range(min = 1, max = 1024)
        int workers,
    @Doc(
            "A verification that takes longer is ended with its process, and its completion is"
                + " unverifiable; code and judges keep their own time.")
        @Default("5s")
        @Range(min = 0.001)
        Duration timeout,
    @Doc(value = "Memory of a verifier's JVM.", unit = "MB")
        @Default("256")
        @Range(min = 16, max = 65536)
        int heapMb,
    @Doc(
            value = "Number of timeouts and crashes in a row that put a verifier under quarantine.",
            unit = "failures")
        @Default("20")
        @Range(min = 1, max = 1_000_000)
        int quarantineAfter,
    @Doc("How long a verifier under quarantine is not tried again.")
        @Default("1m")
        @Range(min = 0.001)
        Duration quarantine,
    @Doc(
            "Runs the programs of code completions without a sandbox, with all rights of this user:"
                + " only where every one of them may be trusted.")
        @Default("false")
        boolean allowUnsandboxedCode,
    @Doc("Jars with verifiers of your own.") @RelativeToFile List<Path> plugins,
    @Doc(
            "The mark: a completion passes with this reward or more, wherever completions that pass"
                + " are counted, chosen or left out. Any finite number; of a sum of rewards it is"
                + " that of the sum.")
        @Default("1")
        double passReward,
    @Doc(
            "Rewards in place of the data sets' own: for each source named here, its parts, whose"
                + " weights add up to 1.")
        List<Reward> rewards)
    implements Validated {
  /** The name in {@code rewards} of what an environment gives the turns of an episode. */
  public static final String TURNS = "turns";

  private static final double TOLERANCE = 1e-9;

  /** The part of an episode that a verifier judges. */
  public enum Over {
    ANSWER,
    TRACE
  }

  /** One part of a source's reward. */
  public record Reward(
      @Doc("Data set (its alias, where it has one) whose completions it judges.") String source,
      @Doc(
              "Verifier; `troupe verify --list` has their names. `turns` is the sum of the rewards"
                  + " that an environment gives the calls of an episode.")
          String verifier,
      @Doc("Share of the reward.") @Default("1") @Range(min = 0, minExclusive = true, max = 1)
          double weight,
      @Doc("Options of the verifier, each `name=value`.") List<String> options,
      @Doc(
              "What of an episode it judges: its last answer, or what its environment hands in"
                  + " (`answer`), or all its turns as one text (`trace`).")
          @Default("answer")
          Over over)
      implements Validated {
    /** Whether the reward is the sum of the rewards of turns. */
    public boolean isOfTurns() {
      return verifier.equals(TURNS);
    }

    /** The options by name. */
    public Map<String, String> optionsByName() {
      Map<String, String> byName = new LinkedHashMap<>();
      for (String option : options) {
        int equals = option.indexOf('=');
        byName.put(option.substring(0, equals), option.substring(equals + 1));
      }
      return byName;
    }

    @Override
    public void check(RuleChecker rules) {
      rules
          .on("options", "over")
          .require(
              () -> !isOfTurns() || (options.isEmpty() && over == Over.ANSWER),
              "must be left out beside verifier: %s, which sums what an environment gave"
                  .formatted(TURNS),
              "leave them out");
      for (String option : options) {
        rules
            .on("options")
            .require(
                () -> option.indexOf('=') > 0,
                "must hold name=value, not '%s'".formatted(option),
                "write it as mode=strict");
      }
    }
  }

  /** The parts of a source's reward; none if it keeps its data set's verifier. */
  public List<Reward> rewardsOf(String source) {
    return rewards.stream().filter(reward -> reward.source().equals(source)).toList();
  }

  /** The mark by which a completion passes. */
  public PassMark mark() {
    return new PassMark(passReward);
  }

  @Override
  public void check(RuleChecker rules) {
    for (String source : rewards.stream().map(Reward::source).distinct().toList()) {
      double sum = rewardsOf(source).stream().mapToDouble(Reward::weight).sum();
      rules
          .on("rewards")
          .require(
              () -> Math.abs(sum - 1) <= TOLERANCE,
              "has weights for '%s' that add up to %s, not to 1".formatted(source, sum),
              "change a weight");
    }
  }
}
