package io.troupe.verifiers.code;

import static io.troupe.core.Require.require;

import java.time.Duration;

/**
 * The limits of a program.
 *
 * @param wall time of a program with all its calls; of a whole program, time of each run
 * @param wallOfAllRuns time of all runs of a whole program together
 * @param memoryBytes limit of each process's address space, and of the private pages of all
 *     processes together
 * @param processes processes and threads that a program may have at once, itself included
 * @param fileBytes size of all files that a program may hold at once
 * @param outputBytes output that a whole program may write
 */
public record CodeLimits(
    Duration wall,
    Duration wallOfAllRuns,
    long memoryBytes,
    int processes,
    long fileBytes,
    int outputBytes) {
  /** 5 s, 1 GB, 32 processes, 64 MB of files, 1 MB of output. */
  static final CodeLimits STANDARD =
      new CodeLimits(
          Duration.ofSeconds(5), Duration.ofSeconds(30), 1L << 30, 32, 64L << 20, 1 << 20);

  public CodeLimits {
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

  CodeLimits withWall(Duration each, Duration all) {
    return new CodeLimits(each, all, memoryBytes, processes, fileBytes, outputBytes);
  }

  CodeLimits withMemory(long bytes) {
    return new CodeLimits(wall, wallOfAllRuns, bytes, processes, fileBytes, outputBytes);
  }
}
