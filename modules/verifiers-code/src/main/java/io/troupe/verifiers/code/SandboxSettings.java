package io.troupe.verifiers.code;

import static io.troupe.core.Require.require;

import io.troupe.base.sandbox.SandboxUids;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The number of programs that run at once, their isolation, and the limits of each.
 *
 * @param workers programs that run at once
 * @param isolation isolation of programs
 * @param python the system's interpreter, 3.9 or later: not a shim in a home directory
 * @param limits of each program
 */
public record SandboxSettings(
    int workers, SandboxIsolation isolation, Path python, CodeLimits limits) {
  static final int MOST_WORKERS = SandboxUids.MOST_WORKERS;

  /** The isolation of programs. */
  public enum SandboxIsolation {
    /**
     * In their own namespaces, made by bubblewrap, behind a filter of system calls. The sandbox
     * does not open if either is unavailable.
     */
    BUBBLEWRAP,
    /**
     * Bubblewrap as in {@link #BUBBLEWRAP}, but without the filter on a CPU architecture that has
     * none.
     */
    BUBBLEWRAP_MAYBE_UNFILTERED,
    /**
     * Only by limits of resources: programs can read and write what this user can, and use the
     * network. Only for trusted programs, or disposable machines.
     */
    NONE;

    /** Whether programs have their own namespaces. */
    public boolean namespaces() {
      return this != NONE;
    }
  }

  public SandboxSettings {
    require(
        workers >= 1 && workers <= MOST_WORKERS,
        "code workers (%d) must lie in 1 to %d",
        workers,
        MOST_WORKERS);
  }

  /** A worker for each CPU, with the standard limits. */
  public static SandboxSettings standard() {
    return new SandboxSettings(
        Runtime.getRuntime().availableProcessors(),
        SandboxIsolation.BUBBLEWRAP,
        Path.of("/usr/bin/python3"),
        CodeLimits.STANDARD);
  }

  /** Returns these settings with another number of workers. */
  public SandboxSettings withWorkers(int count) {
    return new SandboxSettings(count, isolation, python, limits);
  }

  /** Returns these settings with another time for each run. */
  public SandboxSettings withWall(Duration each, Duration all) {
    return new SandboxSettings(workers, isolation, python, limits.withWall(each, all));
  }

  /** Returns these settings with another memory limit. */
  public SandboxSettings withMemory(long bytes) {
    return new SandboxSettings(workers, isolation, python, limits.withMemory(bytes));
  }

  /** Returns these settings with another isolation. */
  public SandboxSettings withIsolation(SandboxIsolation other) {
    return new SandboxSettings(workers, other, python, limits);
  }

  /** Returns these settings with another interpreter. */
  public SandboxSettings withPython(Path interpreter) {
    return new SandboxSettings(workers, isolation, interpreter, limits);
  }
}
