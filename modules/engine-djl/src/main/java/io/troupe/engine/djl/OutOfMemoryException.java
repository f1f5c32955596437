package io.troupe.engine.djl;

import ai.djl.engine.EngineException;
import java.util.Locale;

/**
 * PyTorch could not get the memory it asked for. What was asked for was not done; whoever catches
 * it may release memory and ask for less.
 */
final class OutOfMemoryException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private OutOfMemoryException(Throwable cause) {
    super(firstLine(cause), cause);
  }

  /** What a failed native call is to throw: both allocators say in words that memory ran out. */
  static RuntimeException orItself(EngineException failure) {
    String text = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    return text.contains("out of memory") || text.contains("can't allocate memory")
        ? new OutOfMemoryException(failure)
        : failure;
  }

  private static String firstLine(Throwable cause) {
    return String.valueOf(cause.getMessage()).lines().findFirst().orElse("out of memory");
  }
}
