package io.troupe.runtime;

import akka.actor.ActorInitializationException;
import io.troupe.base.failure.Causes;
import java.util.List;

/** The cause of a failure of a future or of an actor, without the exceptions that carry it. */
public final class FailureCause {
  private FailureCause() {}

  public static Throwable of(Throwable failure) {
    return Causes.inside(failure, List.of(ActorInitializationException.class));
  }

  public static String message(Throwable failure) {
    return Causes.message(of(failure));
  }
}
