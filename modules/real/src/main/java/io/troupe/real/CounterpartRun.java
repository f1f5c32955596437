package io.troupe.real;

import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.JavaCommand;
import io.troupe.base.text.SafeText;
import io.troupe.real.CounterpartResult.Ending;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The driver of a counterpart, run to its end. Its environment says where Troupe is, and it writes
 * a line of JSON for each case.
 *
 * @param home the work tree
 * @param arguments of the driver
 * @param record whether recorded answers are written again rather than compared
 */
record CounterpartRun(Path home, List<String> arguments, boolean record, Consumer<String> say) {
  private static final int HEAP = 1024;
  private static final int PROBE_HEAP = 512;

  /**
   * The program {@code name} of the package {@code io.troupe.real.probe} reads lines, and answers.
   */
  private static final String PROBES = "io.troupe.real.probe.";

  /**
   * Runs the driver.
   *
   * @param python of the counterpart's environment
   * @param scratch an empty folder for what it writes
   * @param left of the time for all counterparts
   */
  CounterpartResult run(Counterpart counterpart, Path python, Path scratch, Duration left)
      throws InterruptedException {
    long started = System.nanoTime();
    Lines lines = new Lines();
    List<String> command = new ArrayList<>(List.of(python.toString(), "-u"));
    command.add(counterpart.driver().toString());
    command.addAll(arguments);
    Ending ending;
    try {
      ending =
          lines.ending(
              BoundedProgram.run(
                  command,
                  variables(counterpart, scratch),
                  counterpart.limits().within(left),
                  line -> lines.take(counterpart, line)));
    } catch (IOException notStarted) {
      ending = new Ending.Broken("its driver cannot be started: " + notStarted.getMessage());
    }
    return new CounterpartResult(
        counterpart.name(),
        counterpart.version(),
        lines.cases(),
        ending,
        Duration.ofNanos(System.nanoTime() - started));
  }

  private Map<String, String> variables(Counterpart counterpart, Path scratch) {
    Map<String, String> all = new HashMap<>(ChildJvm.environment());
    all.put("TROUPE_COMMAND", JsonTexts.list(ChildJvm.command(HEAP)));
    all.put("TROUPE_PROBE", JsonTexts.list(probe()));
    all.put("TROUPE_PROBE_PACKAGE", PROBES);
    all.put("TROUPE_TREE", home.toString());
    all.put("TROUPE_SCRATCH", scratch.toString());
    all.put("TROUPE_RECORD", record ? "1" : "");
    all.put("PYTHONPATH", counterpart.folder().resolveSibling("").toString());
    all.put("PYTHONDONTWRITEBYTECODE", "1");
    all.put("HF_HUB_OFFLINE", "1");
    all.put("HF_HOME", scratch.resolve("huggingface").toString());
    return all;
  }

  /** The words of a JVM on the class path of this process, before the name of the probe. */
  private static List<String> probe() {
    List<String> words =
        new JavaCommand("", "", List.of())
            .with(JavaCommand.BASIC)
            .heap(PROBE_HEAP)
            .with(JavaCommand.SERIAL_COLLECTOR)
            .with(JavaCommand.UTF8_OUTPUT)
            .with("-Dai.djl.offline=true")
            .words(List.of());
    return words.subList(0, words.size() - 1);
  }

  /** The lines of a driver. */
  private final class Lines {
    private static final int SHOWN = 200;
    private static final Duration BETWEEN_LINES = Duration.ofSeconds(15);

    private final List<CaseResult> cases = new ArrayList<>(); // guarded by itself
    private Optional<String> nonsense = Optional.empty(); // guarded by the cases
    private long saidAt = System.nanoTime(); // guarded by the cases

    void take(Counterpart counterpart, String line) {
      Optional<CaseResult> parsed = CaseResult.parse(line);
      synchronized (cases) {
        parsed.ifPresent(cases::add);
        if (System.nanoTime() - saidAt > BETWEEN_LINES.toNanos()) {
          saidAt = System.nanoTime();
          say.accept("%s: %d cases so far".formatted(counterpart.name(), cases.size()));
        }
        if (parsed.isEmpty() && nonsense.isEmpty()) {
          nonsense = Optional.of(line);
        }
      }
      parsed
          .filter(each -> each.outcome() == CaseResult.CaseOutcome.FAILED)
          .ifPresent(
              each -> say.accept("%s: %s failed".formatted(counterpart.name(), each.name())));
    }

    List<CaseResult> cases() {
      synchronized (cases) {
        return List.copyOf(cases);
      }
    }

    Ending ending(BoundedProgram.End end) {
      synchronized (cases) {
        return switch (end) {
          case BoundedProgram.TooSlow(Duration limit, String output) ->
              broken(
                  "its driver was expected to end within %d s".formatted(limit.toSeconds()),
                  output);
          case BoundedProgram.TooLarge(long bytes, long limit, String output) ->
              broken(
                  "its driver and what it started had %s, of %s"
                      .formatted(ProgramLimits.mebibytes(bytes), ProgramLimits.mebibytes(limit)),
                  output);
          case BoundedProgram.Exited(int code, String output) when code != 0 ->
              broken("its driver ended with %d, not with 0".formatted(code), output);
          case BoundedProgram.Exited _ when nonsense.isPresent() ->
              new Ending.Broken(
                  "its driver wrote '%s' where one JSON object a case was expected"
                      .formatted(SafeText.of(nonsense.get(), SHOWN)));
          case BoundedProgram.Exited _ when cases.isEmpty() ->
              new Ending.Broken("its driver reported no case, and at least one was expected");
          case BoundedProgram.Exited _ -> new Ending.Complete();
        };
      }
    }

    private Ending broken(String what, String output) {
      String said =
          output
              .lines()
              .filter(line -> CaseResult.parse(line).isEmpty())
              .collect(Collectors.joining("\n"));
      return new Ending.Broken(
          "%s (%d cases until then)%s"
              .formatted(what, cases.size(), said.isEmpty() ? "" : "; it wrote last\n" + said));
    }
  }
}
