package io.troupe.core.reward;

import static io.troupe.core.Require.require;

/** What a verifier says of one completion. A verifier that cannot tell says so, never zero. */
public sealed interface Verdict {
  /**
   * The completion was judged.
   *
   * @param reward from 0 (wrong) to 1 (right)
   * @param extracted what was read as the answer; empty when nothing was found
   * @param reason one line for a person
   */
  record Scored(double reward, String extracted, String reason) implements Verdict {
    public Scored {
      require(reward >= 0 && reward <= 1, "a reward lies in [0, 1], not %s", reward);
    }
  }

  /** The completion could not be judged: a timeout, a crash, or a broken reference answer. */
  record Unverifiable(String reason) implements Verdict {}
}
