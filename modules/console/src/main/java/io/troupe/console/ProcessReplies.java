package io.troupe.console;

import io.troupe.console.http.ApiException;
import io.troupe.console.process.JvmInspector;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits, on a request's own thread, for what other processes answer. */
final class ProcessReplies {
  private ProcessReplies() {}

  static <T> T on(CompletionStage<T> stage, Duration patience) throws ApiException {
    try {
      return stage.toCompletableFuture().get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      throw new ApiException(504, "no answer within %d s".formatted(patience.toSeconds()));
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      throw new ApiException(503, "the console is being closed");
    } catch (ExecutionException failed) {
      Throwable cause = failed.getCause();
      throw new ApiException(
          cause instanceof JvmInspector.NotThereException ? 409 : 503,
          cause == null ? "no answer" : String.valueOf(cause.getMessage()));
    }
  }
}
