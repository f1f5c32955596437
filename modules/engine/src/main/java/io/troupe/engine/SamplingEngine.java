package io.troupe.engine;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Draws completions from the policy. Calls return at once; the engine works on threads of its own,
 * and may be called from any thread.
 *
 * <p>Weights change between two tokens, without dropping a request: every token tells which version
 * sampled it. An engine holds no weights until the first {@link #load} completes, and requests
 * before that wait for it.
 */
public interface SamplingEngine extends AutoCloseable {
  /**
   * Starts to sample groups. Requests of one call enter the decode batch together, so that with the
   * engine otherwise idle its composition, and with it every rounding, is reproducible.
   *
   * @return one stage a request, in order: the group's completions, or the failure. A cancelled
   *     request fails with {@link java.util.concurrent.CancellationException}, and one that no
   *     engine of its kind could take, whatever state it is in, with {@link
   *     RequestRefusedException}; every other failure is the engine's own.
   */
  List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests);

  /**
   * Moves to newer weights at the next token boundary. The snapshot is not closed by the engine and
   * must stay open until the stage completes.
   *
   * @return the version in use once it is in use; when several are offered at once the newest wins
   *     and the stages of those passed over complete with it too
   */
  CompletionStage<WeightVersion> load(WeightSnapshot weights);

  /** Stops work on a lease at the next token, if it is still going on. */
  void cancel(LeaseId lease);

  /**
   * A count that grows while the engine gets on: with every token that it draws, and whenever it
   * has moved to other weights. It tells an engine that hangs from one that is slow.
   */
  default long progress() {
    return 0;
  }

  /**
   * Draws no further token, from the next one on, until it is thawed; requests and weights are
   * still taken. It is for whoever moves weights with nothing drawn meanwhile. Freezing a frozen
   * engine, or thawing another, changes nothing.
   *
   * @throws UnsupportedOperationException if the engine cannot
   */
  default void freeze(boolean frozen) {
    throw new UnsupportedOperationException(
        "%s cannot be frozen between tokens".formatted(getClass().getSimpleName()));
  }

  /**
   * Completes, with true, once it can draw; requests before that wait. Whoever takes work for it
   * should not take any before. Completes with false once it is known that it cannot for a while:
   * requests then fail with the reason until it can.
   */
  default CompletionStage<Boolean> ready() {
    return CompletableFuture.completedStage(true);
  }

  /**
   * Completes with the reason once it will never draw again for any cause but {@link #close}; all
   * that was asked of it has failed then, and what is asked later fails.
   */
  default CompletionStage<String> failed() {
    return new CompletableFuture<>();
  }

  /** Whether another engine in the place of one that is {@link #failed} may draw. */
  default boolean replaceable() {
    return true;
  }

  /** Ends the engine: waits for its threads, then releases native memory; open requests fail. */
  @Override
  void close();
}
