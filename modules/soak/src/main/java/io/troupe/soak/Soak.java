package io.troupe.soak;

import io.troupe.core.audit.AuditCounter;
import io.troupe.core.audit.AuditReport;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Trains a toy policy while everything that runs is killed at random, and audits the journal each
 * time the run's process ends. The faults follow from the seed; when they strike does not, because
 * processes start as fast as the machine lets them.
 */
public final class Soak {
  private static final int ROWS_BEFORE_FAULT = 40;
  private static final int MOST_PAUSE_MILLIS = 2_000;
  private static final int EXTRA_STEPS = 3;
  private static final int AGENTS = 8;
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final int LAST_LINES = 10;
  private static final int TERMINATED = 128 + 15;

  /**
   * The settings of a soak.
   *
   * @param troupe the command line that is the {@code troupe} command, without arguments
   * @param folder for everything it writes; made if absent
   * @param length of time
   * @param seed of the faults
   * @param agents whether episodes are those of agents, which are killed, too
   * @param say takes a line of what happens
   */
  public record Settings(
      List<String> troupe,
      Path folder,
      Duration length,
      long seed,
      boolean agents,
      Consumer<String> say) {
    public Settings {
      troupe = List.copyOf(troupe);
    }
  }

  /**
   * The result of a soak.
   *
   * @param run that was soaked
   * @param problems found, none if all went as promised
   */
  public record Outcome(
      RunFolder run,
      JournalAudit.Result audit,
      Map<String, Integer> faults,
      List<String> problems) {
    public Outcome {
      problems = List.copyOf(problems);
    }
  }

  private final Settings settings;
  private final SplittableRandom random;
  private final Map<RunFault, Integer> faults = new EnumMap<>(RunFault.class);
  private final List<String> problems = new ArrayList<>();
  private final Path log;
  private final long start = System.nanoTime();
  private long steps;

  private Soak(Settings settings) {
    this.settings = settings;
    this.random = new SplittableRandom(settings.seed());
    this.log = settings.folder().resolve("soak.log");
  }

  /** Soaks until the time is up, or something is found. */
  public static Outcome run(Settings settings) throws IOException, InterruptedException {
    Files.createDirectories(settings.folder());
    return new Soak(settings).run();
  }

  private Outcome run() throws IOException, InterruptedException {
    Path config = SoakFiles.write(settings.folder(), "soak.yaml", settings.agents() ? AGENTS : 0);
    List<String> arguments = List.of("train", config.toString(), "--json");
    while (problems.isEmpty() && elapsed().compareTo(settings.length()) < 0) {
      runProcess(arguments);
      arguments = resume(Long.MAX_VALUE);
    }
    if (problems.isEmpty()) {
      finish();
    }
    Map<String, Integer> counted = new TreeMap<>();
    faults.forEach((fault, count) -> counted.put(word(fault), count));
    return new Outcome(folder(), JournalAudit.of(folder()), counted, problems);
  }

  /** One life of the run's process, to a fault that ends it. */
  private void runProcess(List<String> arguments) throws IOException, InterruptedException {
    try (SoakChild child = new SoakChild(command(arguments), settings.folder(), log)) {
      RunFault fault = RunFault.PAUSE;
      do {
        boolean quick = random.nextInt(4) == 0;
        if (quick) {
          // In the middle of its start, of a resume, or of the first steps.
          child.survives(random.nextInt(1_500));
        } else {
          child.rows(1 + random.nextInt(ROWS_BEFORE_FAULT), PATIENCE);
          child.survives(random.nextInt(50));
        }
        if (!child.isAlive()) {
          problem("the run's process ended by itself with code " + child.awaitExit(PATIENCE));
          return;
        }
        fault = RunFault.any(random);
        inject(child, fault);
      } while (!fault.ends());
    }
    if (!names().isEmpty()) { // it may have ended before its folder was whole
      audit();
    }
  }

  private void inject(SoakChild child, RunFault fault) throws IOException, InterruptedException {
    switch (fault) {
      case KILL -> {
        child.kill();
        child.awaitExit(PATIENCE);
      }
      case DRAIN -> {
        child.signal("TERM");
        int code = child.awaitExit(PATIENCE);
        if (code != TERMINATED) {
          problem("after SIGTERM the run's process ended with code %d".formatted(code));
        }
      }
      case SECOND_SIGNAL -> {
        child.signal("TERM");
        child.survives(random.nextInt(200));
        child.signal("TERM");
        child.awaitExit(PATIENCE);
      }
      case PROGRAM -> {
        if (!child.killDescendant(random)) {
          return;
        }
      }
      case PAUSE -> {
        child.signal("STOP");
        child.survives(random.nextInt(MOST_PAUSE_MILLIS));
        child.signal("CONT");
      }
    }
    faults.merge(fault, 1, Integer::sum);
    settings.say().accept("%s  %s".formatted(time(), word(fault)));
  }

  /** A soaked run must still be able to end in order. */
  private void finish() throws IOException, InterruptedException {
    if (steps == 0) {
      problem("no step was made in all that time");
      return;
    }
    long end = steps + EXTRA_STEPS;
    settings.say().accept("%s  to the end, step %d".formatted(time(), end));
    try (SoakChild child = new SoakChild(command(resume(end)), settings.folder(), log)) {
      int code = child.awaitExit(PATIENCE);
      if (code != 0) {
        problem("the run could not be ended in order: code %d".formatted(code));
      }
    }
    AuditReport report = audit();
    if (report.version() != end) {
      problem("it ended at step %d, not %d".formatted(report.version(), end));
    }
  }

  private AuditReport audit() throws IOException {
    JournalAudit.Result result = JournalAudit.of(folder());
    AuditReport report = result.report();
    report.violations().forEach(violation -> problem(violation.toString()));
    steps = Math.max(steps, report.version());
    settings
        .say()
        .accept(
            "%s    step %d (%d undone) · %d admitted = %d trained + %d filtered + %d failed + %d pending · %s"
                .formatted(
                    time(),
                    report.version(),
                    report.undoneSteps(),
                    report.stands().of(AuditCounter.ADMITTED),
                    report.stands().of(AuditCounter.TRAINED),
                    report.stands().of(AuditCounter.FILTERED),
                    report.stands().of(AuditCounter.FAILED)
                        + report.stands().of(AuditCounter.SKIPPED),
                    report.pending(),
                    report.sound() ? "sound" : "BROKEN"));
    return report;
  }

  /**
   * Returns the arguments by which the run continues: from its folder, or from the start if it died
   * before it had one.
   */
  private List<String> resume(long end) throws IOException {
    if (names().isEmpty()) {
      return List.of("train", settings.folder().resolve("soak.yaml").toString(), "--json");
    }
    List<String> arguments =
        new ArrayList<>(List.of("train", "--resume", folder().path().toString(), "--json"));
    if (end < Long.MAX_VALUE) {
      arguments.addAll(List.of("--set", "training.steps=" + end));
    }
    return arguments;
  }

  private RunFolder folder() throws IOException {
    List<String> names = names();
    if (names.isEmpty()) {
      throw new IOException(
          "%s before it had a run folder. The last lines of %s:%n%s"
              .formatted(
                  problems.isEmpty() ? "the time was up" : problems.getFirst(), log, lastLines()));
    }
    return RunFolder.view(root(), names.getFirst());
  }

  private String lastLines() throws IOException {
    List<String> lines = Files.exists(log) ? Files.readAllLines(log) : List.of();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
  }

  private List<String> names() throws IOException {
    return RunFolder.list(root());
  }

  private Path root() {
    return settings.folder().resolve("runs").toAbsolutePath();
  }

  private List<String> command(List<String> arguments) {
    List<String> command = new ArrayList<>(settings.troupe());
    command.addAll(arguments);
    return command;
  }

  private void problem(String what) {
    problems.add(what);
    settings.say().accept("%s  VIOLATION %s".formatted(time(), what));
  }

  private Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - start);
  }

  private String time() {
    long seconds = elapsed().toSeconds();
    return "%2d:%02d".formatted(seconds / 60, seconds % 60);
  }

  private static String word(RunFault fault) {
    return fault.name().toLowerCase(Locale.ROOT);
  }
}
