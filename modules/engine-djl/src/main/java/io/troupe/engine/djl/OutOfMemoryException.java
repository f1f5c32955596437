package io.troupe.engine.djl;

import java.util.Locale;
import java.util.Optional;

/**
 * PyTorch could not get the memory it asked for. What was asked for was not done; whoever catches
 * it may release memory and ask for less.
 */
final class OutOfMemoryException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private OutOfMemoryException(Throwable cause) {
    super(firstLine(cause), cause);
  }

  /** The failure of a native call, if it is one of memory: both allocators say so in words. */
  static Optional<OutOfMemoryException> in(RuntimeException failure) {
    String text = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    return text.contains("out of memory") || text.contains("can't allocate memory")
        ? Optional.of(new OutOfMemoryException(failure))
        : Optional.empty();
  }

  private static String firstLine(Throwable cause) {
    return String.valueOf(cause.getMessage()).lines().findFirst().orElse("out of memory");
  }
}
