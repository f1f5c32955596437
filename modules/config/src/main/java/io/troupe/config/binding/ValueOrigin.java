package io.troupe.config.binding;

import io.troupe.base.text.SafeText;
import java.nio.file.Path;

/** The place where a value was written. */
public sealed interface ValueOrigin {
  /**
   * In the configuration file.
   *
   * @param line from 1
   */
  record Line(Path file, int line) implements ValueOrigin {
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
  record CommandLine(String assignment) implements ValueOrigin {
    @Override
    public String toString() {
      return "--set " + SafeText.of(assignment, ConfigViolation.LONGEST);
    }
  }

  /** Nowhere: the schema's default. */
  record Default() implements ValueOrigin {
    @Override
    public String toString() {
      return "default";
    }
  }
}
