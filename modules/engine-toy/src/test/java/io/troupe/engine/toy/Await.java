package io.troupe.engine.toy;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for stages, at most a minute: a hung sampler fails its test. */
final class Await {
  private Await() {}

  static <T> T one(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  static Throwable failure(CompletionStage<?> stage) {
    return one(stage.handle((_, failure) -> failure));
  }

  static <T> List<T> all(List<CompletionStage<T>> stages) {
    return stages.stream().map(Await::one).toList();
  }
}
