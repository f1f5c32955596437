package io.troupe.runtime;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.TokenListener;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Samples from a run's newest weights for a person who tries the policy out, beside the training.
 * It has an engine of its own, which is made for the first question and closed after a while
 * without questions. It samples one completion at a time, with the weights that were newest at its
 * start. These completions are no part of the run: they are neither scored nor trained on.
 */
public final class AdHocSampling {
  private static final GroupId NO_GROUP_OF_THE_RUN = new GroupId(1);

  /** The outcome of a question. */
  public sealed interface StartResult {}

  /**
   * The completion is being sampled.
   *
   * @param end its completion, or the reason why there is none
   * @param stop ends it at the next token; its end is then a {@link CancellationException}
   */
  public record Sampling(CompletionStage<Completion> end, Runnable stop) implements StartResult {}

  /** Another completion is being sampled. */
  public record Busy() implements StartResult {}

  /** No version was published yet. */
  public record NoWeights() implements StartResult {}

  /** An engine, and the weights that it was last given. */
  private record Held(SamplingEngine engine, WeightVersion version) {}

  private final EngineRegistry room;
  private final Supplier<Optional<WeightSnapshot>> newest;
  private final Executor later;
  private Optional<Held> held = Optional.empty();
  private long asked;
  private boolean busy;

  /**
   * Answers of a run's policy; no engine is made yet.
   *
   * @param newest the weights published last
   * @param later runs what it is given after the time that an unused engine is kept
   */
  public AdHocSampling(
      EngineRegistry room, Supplier<Optional<WeightSnapshot>> newest, Executor later) {
    this.room = room;
    this.newest = newest;
    this.later = later;
  }

  /**
   * Begins to sample an answer.
   *
   * @param prompt token ids, at least one
   * @param listener to every token, on the engine's thread
   * @throws IllegalStateException if the engines of this process are closed
   */
  public synchronized StartResult begin(
      int[] prompt, SamplingSettings settings, long seed, TokenListener listener) {
    if (busy) {
      return new Busy();
    }
    Optional<WeightSnapshot> weights = newest.get();
    if (weights.isEmpty()) {
      return new NoWeights();
    }
    asked++;
    SampleRequest request =
        new SampleRequest(
            new LeaseId(NO_GROUP_OF_THE_RUN, asked), prompt, 1, settings, seed, listener);
    WeightVersion version = weights.get().version();
    boolean current = held.filter(had -> had.version().equals(version)).isPresent();
    SamplingEngine engine = held.map(Held::engine).orElseGet(room::newLightSampler);
    held = Optional.of(new Held(engine, version));
    busy = true;
    CompletionStage<WeightVersion> loaded =
        current ? CompletableFuture.completedFuture(version) : engine.load(weights.get());
    AtomicBoolean stopped = new AtomicBoolean();
    CompletionStage<Completion> end = loaded.thenCompose(_ -> draw(engine, request, stopped));
    return new Sampling(
        end.whenComplete((_, failure) -> ended(failure != null && !stopped.get())),
        () -> {
          stopped.set(true);
          engine.cancel(request.lease());
        });
  }

  /** Looks twice whether it was stopped: before the engine knows of the request, and after. */
  private static CompletionStage<Completion> draw(
      SamplingEngine engine, SampleRequest request, AtomicBoolean stopped) {
    if (stopped.get()) {
      return CompletableFuture.failedFuture(new CancellationException("stopped"));
    }
    CompletionStage<Completion> drawn =
        engine.sample(List.of(request)).getFirst().thenApply(List::getFirst);
    if (stopped.get()) {
      engine.cancel(request.lease());
    }
    return drawn;
  }

  /** An engine that failed is not asked again. */
  private synchronized void ended(boolean failed) {
    busy = false;
    if (failed) {
      closeEngine();
      return;
    }
    long last = asked;
    later.execute(() -> closeEngineIfUnusedSince(last));
  }

  private synchronized void closeEngineIfUnusedSince(long last) {
    if (!busy && asked == last) {
      closeEngine();
    }
  }

  private void closeEngine() {
    held.map(Held::engine).ifPresent(room::closeInBackground);
    held = Optional.empty();
  }
}
