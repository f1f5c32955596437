package io.troupe.verifiers.code;

import static io.troupe.core.Require.require;

import io.troupe.base.sandbox.SandboxUids;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The limits of programs and their isolation.
 *
 * @param workers programs that run at once
 * @param isolation how programs are isolated
 * @param python the system's interpreter, 3.9 or later: not a shim in a home directory
 * @param wall time of a program with all its calls; of a whole program, time of each run
 * @param wallOfAllRuns time of all runs of a whole program together
 * @param memoryBytes limit of each process's address space, and of the private pages of all
 *     processes together
 * @param processes processes and threads that a program may have at once, itself included
 * @param fileBytes size of all files that a program may hold at once
 * @param outputBytes output that a whole program may write
 */
public record SandboxSettings(
    int workers,
    SandboxIsolation isolation,
    Path python,
    Duration wall,
    Duration wallOfAllRuns,
    long memoryBytes,
    int processes,
    long fileBytes,
    int outputBytes) {
  static final int MOST_WORKERS = SandboxUids.MOST_WORKERS;

  /** How programs are isolated. */
  public enum SandboxIsolation {
    /**
     * In their own namespaces, made by bubblewrap, behind a filter of system calls. The sandbox
     * does not open if either is unavailable.
     */
    BUBBLEWRAP,
    /** As {@link #BUBBLEWRAP}, but without the filter on a CPU architecture that has none. */
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
    require(
        !wall.isNegative() && !wall.isZero() && wall.compareTo(Duration.ofHours(1)) <= 0,
        "the wall time of a program (%s) must lie between 0 and an hour",
        wall);
    require(
        wallOfAllRuns.compareTo(wall) >= 0,
        "the wall time of all runs (%s) must not be below that of one (%s)",
        wallOfAllRuns,
        wall);
    require(
        memoryBytes >= 128L << 20,
        "the memory of a program (%d bytes) must be 128 MB at least, which Python itself needs",
        memoryBytes);
    require(processes >= 1, "the processes of a program (%d) must be 1 at least", processes);
    require(fileBytes >= 1 << 20, "the files of a program (%d bytes) need 1 MB", fileBytes);
    require(
        outputBytes >= 1 && outputBytes <= 1 << 24,
        "the output of a program (%d bytes) must lie between 1 byte and 16 MB",
        outputBytes);
  }

  /** A worker for each CPU, 5 s, 1 GB, 32 processes, 64 MB of files, 1 MB of output. */
  public static SandboxSettings standard() {
    return new SandboxSettings(
        Runtime.getRuntime().availableProcessors(),
        SandboxIsolation.BUBBLEWRAP,
        Path.of("/usr/bin/python3"),
        Duration.ofSeconds(5),
        Duration.ofSeconds(30),
        1L << 30,
        32,
        64L << 20,
        1 << 20);
  }

  /** These settings with another number of workers. */
  public SandboxSettings withWorkers(int count) {
    return new SandboxSettings(
        count,
        isolation,
        python,
        wall,
        wallOfAllRuns,
        memoryBytes,
        processes,
        fileBytes,
        outputBytes);
  }

  /** These settings with another time for each run. */
  public SandboxSettings withWall(Duration each, Duration all) {
    return new SandboxSettings(
        workers, isolation, python, each, all, memoryBytes, processes, fileBytes, outputBytes);
  }

  /** These settings with another memory limit. */
  public SandboxSettings withMemory(long bytes) {
    return new SandboxSettings(
        workers, isolation, python, wall, wallOfAllRuns, bytes, processes, fileBytes, outputBytes);
  }

  /** These settings with another isolation. */
  public SandboxSettings withIsolation(SandboxIsolation other) {
    return new SandboxSettings(
        workers,
        other,
        python,
        wall,
        wallOfAllRuns,
        memoryBytes,
        processes,
        fileBytes,
        outputBytes);
  }

  /** These settings with another interpreter. */
  public SandboxSettings withPython(Path interpreter) {
    return new SandboxSettings(
        workers,
        isolation,
        interpreter,
        wall,
        wallOfAllRuns,
        memoryBytes,
        processes,
        fileBytes,
        outputBytes);
  }
}
