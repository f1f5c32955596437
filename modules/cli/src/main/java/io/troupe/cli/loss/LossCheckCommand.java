package io.troupe.cli.loss;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.config.LossJar;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code troupe loss check}: proves a class of a jar, as a run does before it starts. */
@Command(
    name = "check",
    description = {
      "Checks a class of a jar that implements LossFunction or AdvantageFunction on random input:"
          + " shapes, finite numbers, the same answer twice, and the derivatives of a loss against"
          + " finite differences.",
      "A run does the same before it starts."
    },
    footer = {
      "",
      "Example:",
      "  troupe loss check mine.jar acme.Tapered",
      "",
      "Exit codes: 0 it can be trained with · 2 it cannot, and why"
    })
public final class LossCheckCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "JAR", description = "With the class.")
  private @Nullable Path jar;

  @Parameters(index = "1", paramLabel = "CLASS", description = "Its full name.")
  private String className = "";

  @Override
  public Integer call() {
    Path file = Objects.requireNonNull(jar);
    boolean objective = LossJar.isObjective(file, className);
    if (objective) {
      LossJar.objective(file, className);
    } else {
      LossJar.advantages(file, className);
    }
    out()
        .printf(
            "%s can be trained with: loss.jar: [%s], loss.%s: own, loss.%s_class: %s%n",
            className,
            file,
            objective ? "objective" : "baseline",
            objective ? "objective" : "baseline",
            className);
    out().flush();
    return ExitCode.OK.code();
  }
}
