package io.troupe.console;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits, on a request's own thread, for what other processes answer. */
final class Waiting {
  private Waiting() {}

  static <T> T on(CompletionStage<T> stage, Duration patience) throws Refusal {
    try {
      return stage.toCompletableFuture().get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      throw new Refusal(504, "no answer within %d s".formatted(patience.toSeconds()));
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      throw new Refusal(503, "the console is being closed");
    } catch (ExecutionException failed) {
      Throwable cause = failed.getCause();
      throw new Refusal(
          cause instanceof Jvms.NotThereException ? 409 : 503,
          cause == null ? "no answer" : String.valueOf(cause.getMessage()));
    }
  }
}
