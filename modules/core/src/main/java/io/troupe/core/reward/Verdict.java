package io.troupe.core.reward;

import static io.troupe.core.Require.require;

import java.util.List;

/**
 * A verifier's judgement of one completion. A verifier that cannot judge says so, and never gives
 * zero.
 */
public sealed interface Verdict {
  /**
   * The completion was judged.
   *
   * @param reward any finite number; Troupe's own verifiers give from 0 (wrong) to 1 (right)
   * @param extracted text that was read as the answer; empty when nothing was found
   * @param reason one line for a person
   * @param checks the parts of the judgement, in the order of the prompt's; empty where there are
   *     none
   */
  record Scored(double reward, String extracted, String reason, List<Check> checks)
      implements Verdict {
    public Scored {
      require(Double.isFinite(reward), "a reward is a finite number, not %s", reward);
      checks = List.copyOf(checks);
    }

    /** A judgement in one piece. */
    public Scored(double reward, String extracted, String reason) {
      this(reward, extracted, reason, List.of());
    }

    /** Whether the completion is right in every part: a reward of 1 or more passes. */
    public boolean passed() {
      return reward >= 1;
    }
  }

  /** The completion could not be judged. */
  record Unverifiable(Cause cause, String reason) implements Verdict {}

  /** The reason why a completion could not be judged. */
  enum Cause {
    /** The verifier did not answer in time and was ended. */
    TIMEOUT,
    /** The verifier failed on it, or its process died of it. */
    CRASH,
    /**
     * No verifier is there: it cannot start, is under quarantine, has no room, or fails on whatever
     * it is asked. It says nothing of the completion, which may be asked for again.
     */
    AWAY,
    /**
     * The data by which the prompt is judged is broken, so that no completion of it can be judged.
     */
    BAD_INPUT
  }
}
