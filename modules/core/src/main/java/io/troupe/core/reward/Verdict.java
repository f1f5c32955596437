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
   * @param mark by which it passes
   */
  record Scored(double reward, String extracted, String reason, List<Check> checks, PassMark mark)
      implements Verdict {
    public Scored {
      require(Double.isFinite(reward), "a reward is a finite number, not %s", reward);
      checks = List.copyOf(checks);
    }

    /** A judgement by a verifier, whose full reward is 1. */
    public Scored(double reward, String extracted, String reason, List<Check> checks) {
      this(reward, extracted, reason, checks, PassMark.FULL);
    }

    /** A judgement in one piece. */
    public Scored(double reward, String extracted, String reason) {
      this(reward, extracted, reason, List.of());
    }

    /** Whether the completion passes. */
    public boolean passed() {
      return mark.passes(reward);
    }
  }

  /** Returns the verdict where completions pass by this mark. */
  default Verdict by(PassMark mark) {
    return switch (this) {
      case Scored(double reward, String extracted, String reason, List<Check> checks, var _) ->
          new Scored(reward, extracted, reason, checks, mark);
      case Unverifiable unverifiable -> unverifiable;
    };
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
