package io.troupe.runtime;

import akka.actor.ActorInitializationException;
import java.util.concurrent.CompletionException;

/** What a failure says, once the wrapping of futures and of actors that start is taken off. */
final class Causes {
  private Causes() {}

  static Throwable root(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ActorInitializationException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  static String message(Throwable failure) {
    Throwable cause = root(failure);
    String message = cause.getMessage();
    return message == null || message.isBlank() ? cause.getClass().getSimpleName() : message;
  }
}
