package io.troupe.verifiers.code;

import io.troupe.base.process.SearchPath;
import io.troupe.base.sandbox.SandboxCommand;
import io.troupe.base.sandbox.SandboxDiagnosis;
import io.troupe.base.sandbox.SandboxPython;
import io.troupe.base.sandbox.SandboxUids;
import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.core.outage.Backoff;
import io.troupe.verifiers.code.SandboxSettings.SandboxIsolation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Runs programs that are assumed to be hostile, several at a time: a supervised pool of Python
 * processes, each in its own namespaces.
 *
 * <p>A worker runs one program at a time, so a hostile program delays only the callers that wait
 * for its worker, and at most until the time limit. A worker that dies or hangs is killed and
 * restarted, after a pause that doubles while starts fail.
 *
 * <p>{@code docs/verifiers.md}, chapter Code, describes what a program can do and what it cannot.
 */
public final class Sandbox implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Sandbox.class.getName());
  private static final Backoff BACKOFF = new Backoff(100, 10_000);

  /**
   * Longest wait for a free worker; callers that limit their own concurrency never wait that long.
   */
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(2);

  private static final String PROBE_OUTPUT = "42";
  private static final SandboxJob PROBE = new SandboxJob.RunJob("print(6 * 7)", "");

  private final SandboxSettings settings;
  private final Path python;
  private final BlockingQueue<SandboxWorker> idle = new LinkedBlockingQueue<>();
  private final Set<SandboxWorker> workers = ConcurrentHashMap.newKeySet();
  private final LongAdder jobs = new LongAdder();
  private final LongAdder restarts = new LongAdder();

  /**
   * Starts processes and outlives them: Linux kills each process when the thread that started it
   * ends.
   */
  private final ScheduledExecutorService starter = executor("code-sandbox-starter");

  private final ScheduledExecutorService watchdog = executor("code-sandbox-watchdog");
  private volatile boolean closed;
  private volatile String lastFailure = "";

  private record SandboxWorker(int index, SandboxProcess server) {}

  /**
   * Counts since the sandbox was opened.
   *
   * @param jobs programs run; each run of a whole program counts
   * @param restarts workers that were restarted
   * @param idle workers that wait for a program now
   */
  public record Counts(long jobs, long restarts, int idle) {}

  private Sandbox(SandboxSettings settings, Path python) {
    this.settings = settings;
    this.python = python;
  }

  /**
   * Opens a sandbox with one worker ready; the other workers start afterwards.
   *
   * @throws SandboxUnavailableException if this machine cannot isolate programs; no process is left
   *     behind
   */
  public static Sandbox open(SandboxSettings settings) throws SandboxUnavailableException {
    if (settings.isolation().namespaces() && SearchPath.find("bwrap").isEmpty()) {
      throw new SandboxUnavailableException(SandboxDiagnosis.NO_BUBBLEWRAP);
    }
    if (settings.isolation() == SandboxIsolation.NONE) {
      LOG.log(
          System.Logger.Level.WARNING,
          "programs are judged WITHOUT A SANDBOX: they can do whatever this user can");
    }
    Sandbox sandbox = new Sandbox(settings, SandboxPython.find(settings.python()));
    try {
      if (!sandbox.starter.submit(() -> sandbox.start(0)).get().filtered()) {
        sandbox.disableFilter();
      }
      sandbox.probe();
      for (int index = 1; index < settings.workers(); index++) {
        sandbox.startLater(index, 0);
      }
      return sandbox;
    } catch (SandboxUnavailableException refused) {
      sandbox.close();
      throw refused;
    } catch (ExecutionException e) {
      sandbox.close();
      String said = e.getCause() instanceof IOException cause ? cause.getMessage() : e.getMessage();
      throw new SandboxUnavailableException(
          SandboxDiagnosis.of(String.valueOf(said), SandboxDiagnosis::kernelSetting));
    } catch (InterruptedException e) {
      sandbox.close();
      Thread.currentThread().interrupt();
      throw new SandboxUnavailableException("interrupted while the sandbox started");
    }
  }

  /**
   * Judges one program. Without this probe, a machine that can judge no program would start without
   * an error and make every verdict a crash.
   */
  private void probe() throws SandboxUnavailableException {
    SandboxWorker worker = idle.remove();
    SandboxResult result = worker.server().run(PROBE);
    boolean late =
        switch (result) {
          case SandboxResult.Ran ran when ran.output().strip().equals(PROBE_OUTPUT) -> false;
          case SandboxResult.Ran ran -> isLate(ran.ending(), ran);
          case SandboxResult.Ended ended -> isLate(ended.ending(), ended);
          case SandboxResult.Failed _, SandboxResult.BadProblem _, SandboxResult.Judged _ ->
              throw new SandboxUnavailableException(
                  SandboxDiagnosis.ofProbe(result.toString(), SandboxDiagnosis::kernelSetting));
        };
    if (late) {
      LOG.log(
          System.Logger.Level.WARNING,
          "a program of one line has not ended within {0}; if the machine is not busy, raise the"
              + " verifier''s option timeout",
          settings.limits().wall());
    }
    if (worker.server().isAlive()) {
      idle.add(worker);
    } else {
      replace(worker);
    }
  }

  private static boolean isLate(ProgramExit ending, SandboxResult result)
      throws SandboxUnavailableException {
    if (ending instanceof ProgramExit.OutOfTime) {
      return true;
    }
    throw new SandboxUnavailableException(
        SandboxDiagnosis.ofProbe(result.toString(), SandboxDiagnosis::kernelSetting));
  }

  private void disableFilter() throws SandboxUnavailableException {
    if (settings.isolation() == SandboxIsolation.BUBBLEWRAP) {
      throw new SandboxUnavailableException(
          SandboxDiagnosis.noFilter(System.getProperty("os.arch")));
    }
    if (settings.isolation().namespaces()) {
      LOG.log(
          System.Logger.Level.WARNING,
          "programs are judged WITHOUT A FILTER OF SYSTEM CALLS: none is known for this processor,"
              + " so that they reach all of the kernel that namespaces leave open");
    }
  }

  /**
   * Runs a job once a worker is free. Blocks; returns within two minutes plus the job's own limit.
   */
  SandboxResult run(SandboxJob job) {
    SandboxWorker worker;
    try {
      worker = idle.poll(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new SandboxResult.Failed("interrupted while waiting for a sandbox");
    }
    if (worker == null || closed) {
      return new SandboxResult.Failed(
          closed ? "the sandbox is closed" : "no sandbox became free. " + lastFailure);
    }
    jobs.increment();
    boolean answered = false;
    try {
      SandboxResult result = worker.server().run(job);
      answered = true;
      return result;
    } finally {
      // A worker without a result may have read half a job, so it can run no further job.
      if (answered && worker.server().isAlive()) {
        idle.add(worker);
      } else {
        replace(worker);
      }
    }
  }

  private void replace(SandboxWorker worker) {
    worker.server().close();
    workers.remove(worker);
    restarts.increment();
    startLater(worker.index(), 0);
  }

  /** Runs on the starter's thread only. */
  private SandboxProcess start(int index) throws IOException {
    SandboxProcess server =
        SandboxProcess.start(
            SandboxCommand.of(settings.isolation().namespaces(), python, SandboxUids.of(index)),
            settings,
            watchdog);
    SandboxWorker worker = new SandboxWorker(index, server);
    workers.add(worker);
    if (closed) {
      server.close();
    }
    idle.add(worker);
    return server;
  }

  private void startLater(int index, int failures) {
    if (closed) {
      return;
    }
    try {
      var _ =
          starter.schedule(
              () -> {
                try {
                  start(index);
                } catch (IOException | RuntimeException | Error e) {
                  // Every failure is retried: a worker that is not restarted would be missing until
                  // the end.
                  lastFailure = "The last one did not start: " + e.getMessage();
                  startLater(index, failures + 1);
                }
              },
              BACKOFF.pauseMillis(failures),
              TimeUnit.MILLISECONDS);
    } catch (java.util.concurrent.RejectedExecutionException e) {
      // Closed during the start: the worker is no longer needed.
      lastFailure = "The sandbox is closed.";
    }
  }

  /** The limits of programs. */
  public SandboxSettings settings() {
    return settings;
  }

  /** The counts so far. */
  public Counts counts() {
    return new Counts(jobs.sum(), restarts.sum(), idle.size());
  }

  /** Process ids of the workers, for tests that look for left-over processes. */
  Set<Long> pids() {
    return Set.copyOf(workers.stream().map(worker -> worker.server().pid()).toList());
  }

  /** Kills all workers with their programs. Running jobs fail. */
  @Override
  public void close() {
    closed = true;
    starter.shutdown();
    workers.forEach(worker -> worker.server().close());
    watchdog.shutdownNow();
  }

  private static ScheduledExecutorService executor(String name) {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1, task -> Thread.ofPlatform().daemon().name(name).unstarted(task));
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return executor;
  }
}
