package io.troupe.cli.command;

import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The option that chooses steps of a run. */
public final class StepsOption {
  private static final Pattern RANGE = Pattern.compile("(\\d*)(-?)(\\d*)");

  @CommandLine.Spec(CommandLine.Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  @Option(
      names = "--steps",
      paramLabel = "FROM-TO",
      description =
          "Only groups of these steps: 10-20, 10- (and later), -20 (up to), or 15 alone. A group that"
              + " no step took counts by the step after the version that sampled it.")
  private String steps = "";

  /** Whether a step is among those that are asked for; 0 means none. */
  public boolean contains(long step) {
    if (steps.isEmpty()) {
      return true;
    }
    Matcher range = RANGE.matcher(steps);
    if (!range.matches() || (range.group(1).isEmpty() && range.group(3).isEmpty())) {
      throw refused();
    }
    long first = range.group(1).isEmpty() ? 1 : number(range.group(1));
    long last =
        range.group(2).isEmpty()
            ? first
            : range.group(3).isEmpty() ? Long.MAX_VALUE : number(range.group(3));
    if (last < first) {
      throw refused();
    }
    return step >= first && step <= last;
  }

  /** Refuses the option where it has no meaning. */
  public void refuseWithout(String other) {
    if (!steps.isEmpty()) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(command).commandLine(), "--steps needs " + other);
    }
  }

  private long number(String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException large) {
      throw refused();
    }
  }

  private CommandLine.ParameterException refused() {
    return new CommandLine.ParameterException(
        Objects.requireNonNull(command).commandLine(),
        "--steps is FROM-TO, such as 10-20, 10-, -20 or 15, not '%s'".formatted(steps));
  }
}
