package io.troupe.app.config.binding;

import java.nio.file.Path;

/** Where a value was written. */
public sealed interface Origin {
  /**
   * In the configuration file.
   *
   * @param line from 1
   */
  record Line(Path file, int line) implements Origin {
    @Override
    public String toString() {
      return file + ":" + line;
    }
  }

  /**
   * On the command line.
   *
   * @param assignment as it was typed, {@code path=value}
   */
  record CommandLine(String assignment) implements Origin {
    @Override
    public String toString() {
      return "--set " + assignment;
    }
  }

  /** Nowhere: the schema's default. */
  record Default() implements Origin {
    @Override
    public String toString() {
      return "default";
    }
  }
}
