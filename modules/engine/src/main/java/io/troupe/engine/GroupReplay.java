package io.troupe.engine;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Samples recorded groups again, each alone, every token with the weights that sampled it first.
 * Only the thread that created it calls it.
 */
public interface GroupReplay extends AutoCloseable {
  /**
   * The record of a completion that was sampled.
   *
   * @param versions versions of the tokens
   * @param preemptedAt tokens before which its keys and values were computed again
   */
  record Recorded(TokenVersions versions, List<Integer> preemptedAt) {
    public Recorded {
      preemptedAt = List.copyOf(preemptedAt);
    }
  }

  /**
   * A completion that was sampled again.
   *
   * @param tokens as many as were recorded, or fewer if it ended earlier
   * @param whole the completion; empty if it has not ended where the recorded one has
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  record Replayed(int[] tokens, Optional<Completion> whole) {}

  /**
   * Samples a group again.
   *
   * @param recorded one a completion
   * @param weights returns the weights of each of these versions
   * @return one a completion, in order
   */
  List<Replayed> sample(
      SampleRequest request,
      List<Recorded> recorded,
      Function<WeightVersion, WeightSnapshot> weights);

  /** Frees the memory of the engine. */
  @Override
  void close();
}
