package io.troupe.engine.http.protocol;

import io.troupe.core.rollout.Completion;
import java.util.Locale;

/** What the check of a server's completion came to. */
public sealed interface CheckedCompletion {
  /** It may be trained on. */
  record Usable(Completion completion) implements CheckedCompletion {}

  /** It was cut, and is sound as far as it came: it may be drawn on. */
  record Cut(PartialCompletion head) implements CheckedCompletion {}

  /** It may not. */
  record Refused(Reason reason, String detail) implements CheckedCompletion {
    @Override
    public String toString() {
      return reason.name().toLowerCase(Locale.ROOT) + ": " + detail;
    }
  }

  /** Why a completion is refused; each is counted. */
  enum Reason {
    /** The server failed, or did not say that it ended. */
    NOT_FINISHED,
    /** No token. */
    EMPTY,
    /** The server drew another number of tokens than it told. */
    TOKENS_MISSING,
    /** More tokens than asked for. */
    TOO_LONG,
    /** A token that is no id of the policy. */
    NO_ID,
    /** It stopped, and the token that stopped it is not there. */
    END_MISSING,
    /** A token that ends a completion is not its last. */
    PAST_END,
    /** Not one log-probability a token. */
    LOG_PROBS_MISSING,
    /** A log-probability that is NaN, infinite, or the floor that stands for infinite. */
    NOT_FINITE,
    /** A log-probability above 0. */
    POSITIVE,
    /** The server understood another prompt. */
    OTHER_PROMPT,
    /** The server did not say which weights sampled it, and it could have. */
    VERSION_MISSING,
    /** Weights that this run never published. */
    FOREIGN_WEIGHTS,
    /** Perhaps of weights that were read in part, and the server does not tell which token is. */
    HALF_WEIGHTS
  }
}
