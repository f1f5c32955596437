package io.troupe.base.failure;

import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Finds the real failure inside exceptions that only carry another exception. */
public final class Causes {
  private Causes() {}

  /** Returns the cause of a {@link CompletionException}; any other exception is its own cause. */
  public static Throwable of(Throwable failure) {
    return inside(failure, List.of());
  }

  /**
   * Returns the first cause that is no carrier. A carrier without a cause is a cause itself.
   *
   * @param carriers types that only carry another exception, beside {@link CompletionException}
   */
  public static Throwable inside(Throwable failure, List<Class<? extends Throwable>> carriers) {
    Throwable cause = failure;
    while (carries(cause, carriers) && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** Returns the last cause of the chain. */
  public static Throwable root(Throwable failure) {
    return inside(failure, List.of(Throwable.class));
  }

  /** The message of an exception, or the name of its type where the message is empty. */
  public static String message(Throwable failure) {
    String message = failure.getMessage();
    return message == null || message.isBlank() ? failure.getClass().getSimpleName() : message;
  }

  /**
   * Returns the exception that a caller of a future throws again: the unchecked cause, else the
   * failure itself.
   */
  public static RuntimeException unchecked(CompletionException failure) {
    return failure.getCause() instanceof RuntimeException cause ? cause : failure;
  }

  /** Waits for a stage, and throws what it failed with. */
  public static <T> T joined(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException failure) {
      throw unchecked(failure);
    }
  }

  private static boolean carries(Throwable failure, List<Class<? extends Throwable>> carriers) {
    return failure instanceof CompletionException
        || carriers.stream().anyMatch(type -> type.isInstance(failure));
  }
}
