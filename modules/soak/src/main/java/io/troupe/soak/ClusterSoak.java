package io.troupe.soak;

import io.troupe.core.audit.AuditReport;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Trains a toy policy over real processes on loopback, which are killed, ended and stopped at
 * random and started again, while their journal is audited. The blows follow from the seed; when
 * they fall does not, because each waits until the cluster is well again, or hastily does not.
 */
public final class ClusterSoak {
  private static final long SECOND = 1_000_000_000L;
  private static final long TICK_MILLIS = 100;
  private static final long AUDIT_EVERY = 2 * SECOND;

  /** The time within which a step must come, whatever happened. */
  private static final long STANDSTILL = 150 * SECOND;

  /** The time within which all processes must be there and at work, if nothing else happens. */
  private static final long UNWELL = 240 * SECOND;

  private static final long PATIENCE_SECONDS = 120;
  private static final int EXTRA_STEPS = 3;

  /** Agents of each worker; more would start, all at once, with each worker that starts again. */
  private static final int AGENTS = 2;

  /** A process that is stopped and is to continue. */
  private record StoppedProcess(ProcessHandle process, long until) {}

  private final Soak.Settings settings;
  private final SoakJvm jvm;
  private final SplittableRandom random;
  private final RecoveryTimes times = new RecoveryTimes();
  private final List<StoppedProcess> sleepers = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private final SoakCluster cluster;
  private final long start = System.nanoTime();
  private long stepAt = start;
  private long steps;
  private long healthyAt = start;
  private long presentAt = Long.MAX_VALUE;
  private long auditedAt = start;
  private long injectedAt = start;
  private boolean healthy;
  private String missing = "everything";
  private ClusterFault next;

  private ClusterSoak(Soak.Settings settings, SoakJvm jvm, Path config) throws IOException {
    this.settings = settings;
    this.jvm = jvm;
    this.random = new SplittableRandom(settings.seed());
    this.cluster = new SoakCluster(jvm, settings.folder(), config, this::say);
    this.next = ClusterFault.next(random);
  }

  /**
   * The result of a soak.
   *
   * @param run that was soaked
   * @param times cost of each kind of blow
   * @param endedByThemselves processes that ended without an order
   * @param problems found, none if all went as promised
   */
  public record Outcome(
      RunFolder run,
      JournalAudit.Result audit,
      RecoveryTimes times,
      int endedByThemselves,
      List<String> problems) {
    public Outcome {
      problems = List.copyOf(problems);
    }
  }

  /** Soaks until the time is up, or something is found. */
  public static Outcome run(Soak.Settings settings, SoakJvm jvm)
      throws IOException, InterruptedException {
    Files.createDirectories(settings.folder());
    Path config =
        SoakFiles.write(settings.folder(), "soak-cluster.yaml", settings.agents() ? AGENTS : 0);
    Path rehearsal = settings.folder().resolve("rehearsal").toAbsolutePath();
    SoakJvm warm =
        jvm.warm(
            settings.folder(),
            List.of("train", config.toString(), "--cluster", "--set", "run.folder=" + rehearsal));
    ClusterSoak soak = new ClusterSoak(settings, warm, config);
    Thread killer = new Thread(soak.cluster::kill, "soak-end");
    Runtime.getRuntime().addShutdownHook(killer);
    try {
      return soak.run();
    } finally {
      soak.cluster.kill();
    }
  }

  private Outcome run() throws IOException, InterruptedException {
    RunFolder run = cluster.begin(PATIENCE_SECONDS * SECOND);
    say("run " + run.path());
    try (JournalFollower watch = new JournalFollower(run)) {
      while (problems.isEmpty() && (elapsed() < settings.length().toNanos() || !healthy)) {
        long now = System.nanoTime();
        watch.look(now);
        look(watch, now);
        resumeStopped(now);
        cluster.restartEnded(now);
        if (elapsed() < settings.length().toNanos() && due(now)) {
          watch.look(now); // A step made before the blow must not count as one after it.
          inject(watch, now);
        }
        Thread.sleep(TICK_MILLIS);
      }
      if (problems.isEmpty()) {
        finish(watch, run);
      }
    }
    return new Outcome(run, JournalAudit.of(run), times, cluster.endedByThemselves(), problems);
  }

  /** Takes note of steps, of who is there, and of what must not be. */
  private void look(JournalFollower watch, long now) throws IOException {
    if (watch.steps() != steps) {
      steps = watch.steps();
      stepAt = now;
      times.stepDone(now);
    }
    missing = cluster.missing();
    if (!missing.isEmpty()) {
      presentAt = Long.MAX_VALUE;
    } else if (presentAt == Long.MAX_VALUE) {
      presentAt = now;
    }
    // Present is not yet at work: each worker must have got a lease since, and a step be made.
    boolean wasWell = healthy;
    healthy =
        sleepers.isEmpty()
            && missing.isEmpty()
            && stepAt > injectedAt
            && SoakCluster.WORKERS.stream().allMatch(one -> watch.lastGrant(one) > presentAt);
    if (healthy) {
      if (!wasWell) {
        times.recovered(now).ifPresent(this::say);
      }
      healthyAt = now;
    }
    if (now - stepAt > STANDSTILL) {
      problem("stand-still: no step for %d s; missing: %s".formatted(STANDSTILL / SECOND, missing));
    }
    if (now - Math.max(healthyAt, injectedAt) > UNWELL) {
      problem(
          "not well again %d s after the last blow; missing: %s; at work: %s"
              .formatted(
                  UNWELL / SECOND,
                  missing,
                  SoakCluster.WORKERS.stream()
                      .filter(one -> watch.lastGrant(one) > presentAt)
                      .toList()));
    }
    if (now - auditedAt > AUDIT_EVERY) {
      auditedAt = now;
      watch.report().violations().forEach(violation -> problem(violation.toString()));
    }
  }

  private boolean due(long now) {
    long gap = next.gap().toNanos();
    if (next.duringRecovery() && times.pending()) {
      return now - injectedAt >= gap;
    }
    return healthy && now - times.wellSince() >= gap;
  }

  private void inject(JournalFollower watch, long now) throws IOException, InterruptedException {
    Optional<ProcessHandle> chosen = next.choose(cluster.of(next.kind().target()));
    if (chosen.isPresent()) {
      ProcessHandle process = chosen.get();
      switch (next.kind().action()) {
        case KILL -> {
          cluster.expectEnd(process);
          process.destroyForcibly();
        }
        case TERM -> {
          cluster.expectEnd(process);
          SoakProcess.signal(process.pid(), "TERM");
        }
        case STOP -> {
          SoakProcess.signal(process.pid(), "STOP");
          sleepers.add(new StoppedProcess(process, now + next.pause().toNanos()));
        }
      }
      steps = watch.steps();
      times.injected(next.kind(), now);
      injectedAt = now;
      presentAt = Long.MAX_VALUE;
      healthy = false;
      say(
          "%s %d%s%s"
              .formatted(
                  next.kind(),
                  process.pid(),
                  next.kind().action() == ClusterFault.Action.STOP
                      ? " for %.1f s".formatted(next.pause().toMillis() / 1e3)
                      : "",
                  next.duringRecovery() ? " (during recovery)" : ""));
    }
    next = ClusterFault.next(random);
  }

  private void resumeStopped(long now) throws IOException, InterruptedException {
    for (Iterator<StoppedProcess> all = sleepers.iterator(); all.hasNext(); ) {
      StoppedProcess one = all.next();
      if (now >= one.until()) {
        SoakProcess.signal(one.process().pid(), "CONT");
        all.remove();
      }
    }
  }

  /** A soaked run must still end in order, and be resumed by one process. */
  private void finish(JournalFollower watch, RunFolder run)
      throws IOException, InterruptedException {
    say("the end");
    cluster.end(watch, PATIENCE_SECONDS).forEach(this::problem);
    List<Long> survivors = cluster.survivors();
    if (!survivors.isEmpty()) {
      problem("processes %s outlived the agent that had started them".formatted(survivors));
    }
    long last = JournalAudit.of(run).report().version() + EXTRA_STEPS;
    SoakProcess resumed = new SoakProcess("last", settings.folder());
    resumed.start(
        jvm.process(
            256,
            List.of(
                "train", "--resume", run.path().toString(), "--set", "training.steps=" + last)));
    if (!resumed.ends(PATIENCE_SECONDS) || resumed.code() != 0) {
      resumed.kill();
      problem("the run could not be ended in order by one process; see last.log");
    }
    AuditReport report = JournalAudit.of(run).report();
    report.violations().forEach(violation -> problem(violation.toString()));
    if (report.version() != last) {
      problem("it ended at step %d, not %d".formatted(report.version(), last));
    }
    long lost = SoakAccount.of(report).lost();
    if (lost != 0) {
      problem("%d prompts were lost".formatted(lost));
    }
  }

  private void problem(String what) {
    problems.add(what);
    say("VIOLATION " + what);
  }

  private void say(String what) {
    long seconds = TimeUnit.NANOSECONDS.toSeconds(elapsed());
    settings.say().accept("%2d:%02d  %s".formatted(seconds / 60, seconds % 60, what));
  }

  private long elapsed() {
    return System.nanoTime() - start;
  }
}
