package io.troupe.environments.box;

import static io.troupe.core.Require.require;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The limits of what a policy runs in a box.
 *
 * @param count boxes at a time
 * @param timeout of one call
 * @param memoryBytes limit of each process's address space, and of the private pages of all
 *     processes together
 * @param processes processes and threads at once
 * @param fileBytes size of all files
 * @param outputBytes output of a call that is shown
 * @param python the system's interpreter, 3.9 or later
 */
public record BoxSettings(
    int count,
    Duration timeout,
    long memoryBytes,
    int processes,
    long fileBytes,
    int outputBytes,
    Path python) {
  public BoxSettings {
    require(count >= 1, "at least one box runs at a time, not %d", count);
    require(timeout.isPositive(), "a call may take longer than 0, not %s", timeout);
    require(
        memoryBytes >= 128L << 20,
        "the memory of a box (%d bytes) must be 128 MB at least, which Python itself needs",
        memoryBytes);
    require(processes >= 4, "a box needs 4 processes at least, not %d", processes);
    require(fileBytes >= 1 << 20, "the files of a box (%d bytes) need 1 MB", fileBytes);
    require(
        outputBytes >= 64 && outputBytes <= 1 << 20,
        "the output of a call (%d bytes) must lie between 64 bytes and 1 MB",
        outputBytes);
  }

  /** 4 boxes, 5 s, 512 MB, 32 processes, 64 MB of files, 8 KB of output. */
  public static BoxSettings standard() {
    return new BoxSettings(
        4, Duration.ofSeconds(5), 512L << 20, 32, 64L << 20, 8 << 10, Path.of("/usr/bin/python3"));
  }

  /** Returns these settings with another limit of a call. */
  public BoxSettings withTimeout(Duration time) {
    return new BoxSettings(count, time, memoryBytes, processes, fileBytes, outputBytes, python);
  }

  /** The part of an output that is shown, and how many bytes are not. */
  String shown(String output) {
    byte[] bytes = output.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= outputBytes
        ? output.strip()
        : new String(bytes, 0, outputBytes, StandardCharsets.UTF_8)
            + "\n[%d more bytes are not shown]".formatted(bytes.length - outputBytes);
  }
}
