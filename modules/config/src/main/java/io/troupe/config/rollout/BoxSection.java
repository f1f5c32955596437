package io.troupe.config.rollout;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.environments.box.BoxSettings;
import java.nio.file.Path;
import java.time.Duration;

/** The limits of an episode in its sandbox. */
public record BoxSection(
    @Doc(
            "Time of a call; longer Python is interrupted, a longer command is ended, and the policy"
                + " is told.")
        @Default("5s")
        @Range(min = 0.001)
        Duration timeout,
    @Doc(value = "Memory of each process, and of all together.", unit = "MB")
        @Default("512")
        @Range(min = 128, max = 1_048_576)
        int memoryMb,
    @Doc(value = "Processes and threads at once.", unit = "processes")
        @Default("32")
        @Range(min = 4, max = 4096)
        int processes,
    @Doc(value = "All files of an episode.", unit = "MB")
        @Default("64")
        @Range(min = 1, max = 1_048_576)
        int filesMb,
    @Doc(value = "Output of a call that the policy is shown; the rest is counted.", unit = "bytes")
        @Default("8192")
        @Range(min = 64, max = 1_048_576)
        int outputBytes,
    @Doc("The interpreter: the system's, 3.9 or later.") @Default("/usr/bin/python3")
        String python) {
  /**
   * The limits of boxes.
   *
   * @param count boxes at a time
   */
  public BoxSettings settings(int count) {
    return new BoxSettings(
        count,
        timeout,
        (long) memoryMb << 20,
        processes,
        (long) filesMb << 20,
        outputBytes,
        Path.of(python));
  }
}
