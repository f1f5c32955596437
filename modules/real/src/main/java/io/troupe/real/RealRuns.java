package io.troupe.real;

import io.troupe.base.files.FileTree;
import io.troupe.real.CounterpartResult.Ending;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Counterparts, run one after the other. Each has a result, whatever happens to another one.
 *
 * @param scratch a folder of the drivers; of a counterpart without a failure nothing is left there
 */
record RealRuns(
    PythonEnvironments environments, CounterpartRun run, Path scratch, Consumer<String> say) {
  /**
   * Runs counterparts.
   *
   * @param all the time for all of them
   */
  List<CounterpartResult> run(List<Counterpart> counterparts, Duration all)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + all.toNanos();
    List<CounterpartResult> results = new ArrayList<>();
    for (Counterpart each : counterparts) {
      Duration left = Duration.ofNanos(deadline - System.nanoTime());
      CounterpartResult result =
          left.isPositive()
              ? run(each, deadline)
              : notRun(each, "the %d min for all are over".formatted(all.toMinutes()));
      results.add(result);
      say.accept(
          "%s: %d cases, %d failed, %d s"
              .formatted(
                  each.name(),
                  result.cases().size(),
                  result.failures(),
                  result.took().toSeconds()));
    }
    return results;
  }

  private CounterpartResult run(Counterpart counterpart, long deadline)
      throws IOException, InterruptedException {
    say.accept("%s: %s".formatted(counterpart.name(), counterpart.version()));
    return switch (environments.get(counterpart.requirements(), left(deadline))) {
      case PythonEnvironments.Missing(String why) -> notRun(counterpart, why);
      case PythonEnvironments.Ready(Path python) -> {
        Path own = scratch.resolve(counterpart.name());
        FileTree.delete(own);
        Files.createDirectories(own);
        CounterpartResult result = run.run(counterpart, python, own, left(deadline));
        if (result.failures() == 0) {
          FileTree.delete(own);
        } else {
          say.accept("%s: what it left is in %s".formatted(counterpart.name(), own));
        }
        yield result;
      }
    };
  }

  private static Duration left(long deadline) {
    return Duration.ofNanos(Math.max(1, deadline - System.nanoTime()));
  }

  private static CounterpartResult notRun(Counterpart counterpart, String why) {
    return new CounterpartResult(
        counterpart.name(),
        counterpart.version(),
        List.of(),
        new Ending.NotRun(why),
        Duration.ZERO);
  }
}
