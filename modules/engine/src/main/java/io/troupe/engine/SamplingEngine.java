package io.troupe.engine;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Samples completions from the policy. Calls return at once; the engine works on threads of its
 * own, and may be called from any thread.
 *
 * <p>Weights change between two tokens, without dropping a request: every token carries the version
 * that sampled it. An engine holds no weights until the first {@link #load} completes, and requests
 * before that wait for it.
 */
public interface SamplingEngine extends AutoCloseable {
  /**
   * Starts to sample groups. Requests of one call enter the decode batch together, so that on an
   * idle engine the composition of the batch, and with it every rounding, is reproducible.
   *
   * @return one stage a request, in order: the group's completions, or the failure. A cancelled
   *     request fails with {@link java.util.concurrent.CancellationException}, and a request that
   *     no engine of this kind could ever take with {@link RequestRefusedException}; every other
   *     failure is a failure of the engine.
   */
  List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests);

  /**
   * Moves to newer weights at the next token boundary. The snapshot is not closed by the engine and
   * must stay open until the stage completes.
   *
   * @return the version in use once it is in use; when several are offered at once the newest wins,
   *     and the stages of the others complete with its version
   */
  CompletionStage<WeightVersion> load(WeightSnapshot weights);

  /** Stops sampling under a lease at the next token, if the request is still open. */
  void cancel(LeaseId lease);

  /**
   * Returns a counter that grows with every sampled token and every load of weights, so that a
   * caller can distinguish a slow engine from one that hangs.
   */
  default long progress() {
    return 0;
  }

  /**
   * Freezes or thaws the engine. A frozen engine samples no token, from the next token on, but
   * still accepts requests and weights, so that weights can change while nothing is sampled.
   * Freezing a frozen engine, or thawing an engine that is not frozen, changes nothing.
   *
   * @throws UnsupportedOperationException if the engine cannot freeze
   */
  default void freeze(boolean frozen) {
    throw new UnsupportedOperationException(
        "%s cannot be frozen between tokens".formatted(getClass().getSimpleName()));
  }

  /**
   * Completes with true once the engine can sample; earlier requests wait, and a worker should take
   * no work for the engine before. Completes with false once the engine knows that it cannot sample
   * for a while: requests then fail with the reason until it can.
   */
  default CompletionStage<Boolean> ready() {
    return CompletableFuture.completedStage(true);
  }

  /**
   * Completes with the reason once the engine will never sample again, unless {@link #close} is the
   * cause. All open requests have failed then, and later requests fail.
   */
  default CompletionStage<String> failed() {
    return new CompletableFuture<>();
  }

  /** Whether a new engine may sample in place of this one after it has {@link #failed}. */
  default boolean replaceable() {
    return true;
  }

  /** Ends the engine: waits for its threads, then releases native memory; open requests fail. */
  @Override
  void close();
}
