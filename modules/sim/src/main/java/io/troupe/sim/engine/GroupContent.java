package io.troupe.sim.engine;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Input;
import java.util.List;

/** The content of a group's completions under lease. */
public interface GroupContent {
  /** Returns the number of completions. */
  int completions();

  /** Whether other weights give the completions other tokens, and so other lengths. */
  boolean followsWeights();

  /**
   * Tokens of each completion, 1 or more.
   *
   * @param versions of the tokens, up to the most that a completion may have: those of the past as
   *     they were, and the present version for all that come
   */
  int[] lengths(TokenVersions versions);

  /**
   * Returns the input that the coordinator receives once all completions are sampled and judged.
   *
   * @param versions one a completion
   */
  Input judged(LeaseId lease, List<TokenVersions> versions);
}
