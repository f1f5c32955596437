package io.troupe.runtime.weights;

import io.troupe.engine.weights.WeightSnapshot;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Hands weights from the trainer to workers of the same JVM. It keeps the newest only: who asks for
 * an older one is about to receive the newest.
 */
public final class InMemoryWeights implements WeightPublisher, WeightSource {
  private static final String PLACE = "memory";

  private volatile Optional<WeightSnapshot> newest = Optional.empty();

  /** The weights published last; empty before the first. */
  public Optional<WeightSnapshot> newest() {
    return newest;
  }

  @Override
  public CompletionStage<PublishedWeights> publish(WeightSnapshot weights) {
    newest = Optional.of(weights);
    return CompletableFuture.completedFuture(
        new PublishedWeights(weights.version(), weights.digest(), PLACE));
  }

  @Override
  public CompletionStage<WeightSnapshot> fetch(PublishedWeights published) {
    return newest
        .filter(held -> held.version().equals(published.version()))
        .<CompletionStage<WeightSnapshot>>map(CompletableFuture::completedFuture)
        .orElseGet(
            () ->
                CompletableFuture.failedFuture(
                    new IllegalStateException(published.version() + " is not held any more")));
  }
}
