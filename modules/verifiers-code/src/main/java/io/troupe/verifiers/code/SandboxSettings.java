package io.troupe.verifiers.code;

import static io.troupe.core.Require.require;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What programs may use, and how they are shut in.
 *
 * @param workers programs that run at once
 * @param isolation how
 * @param python the interpreter, 3.9 or later, of the system: not a shim in a home directory
 * @param wall time of a program with all its calls; of a whole program, time of each run
 * @param wallOfAllRuns time of all runs of a whole program together
 * @param memoryBytes of address space of each process, and of all processes' own pages together
 * @param processes and threads that a program may have at once, itself included
 * @param fileBytes of all files a program may hold at once
 * @param outputBytes that a whole program may write
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
  static final int MOST_WORKERS = 1_000;

  /** How programs are shut in. */
  public enum SandboxIsolation {
    /**
     * In namespaces of their own, made by bubblewrap, behind a filter of system calls. Refused
     * where either does not work.
     */
    BUBBLEWRAP,
    /** The same; where there is no filter for the processor, without it. */
    BUBBLEWRAP_MAYBE_UNFILTERED,
    /**
     * Not at all, but for limits of resources: programs can read and write what this user can, and
     * reach the network. Only for programs that are trusted, or machines that are thrown away.
     */
    NONE;

    /** Whether programs have namespaces of their own. */
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

  /** A worker for each processor, 5 s, 1 GB, 32 processes, 64 MB of files, 1 MB of output. */
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

  /** The same with another number of workers. */
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

  /** The same with another time for each run. */
  public SandboxSettings withWall(Duration each, Duration all) {
    return new SandboxSettings(
        workers, isolation, python, each, all, memoryBytes, processes, fileBytes, outputBytes);
  }

  /** The same with other memory. */
  public SandboxSettings withMemory(long bytes) {
    return new SandboxSettings(
        workers, isolation, python, wall, wallOfAllRuns, bytes, processes, fileBytes, outputBytes);
  }

  /** The same, shut in otherwise. */
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

  /** The same with another interpreter. */
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
