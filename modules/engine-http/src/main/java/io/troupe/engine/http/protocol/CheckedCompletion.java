package io.troupe.engine.http.protocol;

import io.troupe.core.completion.Completion;
import java.util.Locale;

/** The result of checking a server's completion. */
public sealed interface CheckedCompletion {
  /** The completion may be trained on. */
  record Usable(Completion completion) implements CheckedCompletion {}

  /** The completion was cut and is sound up to the cut: it may be continued. */
  record Cut(PartialCompletion head) implements CheckedCompletion {}

  /** The completion must not be used. */
  record Refused(Reason reason, String detail) implements CheckedCompletion {
    @Override
    public String toString() {
      return reason.name().toLowerCase(Locale.ROOT) + ": " + detail;
    }
  }

  /** The reason why a completion is refused; each reason is counted. */
  enum Reason {
    /** The server failed, or did not report an end. */
    NOT_FINISHED,
    /** The completion has no token. */
    EMPTY,
    /** The server sampled another number of tokens than it returned. */
    TOKENS_MISSING,
    /** The completion has more tokens than requested. */
    TOO_LONG,
    /** A token is not in the policy's vocabulary. */
    NO_ID,
    /** The completion was stopped, and the stop token is missing. */
    END_MISSING,
    /** A token that ends a completion is not its last token. */
    PAST_END,
    /** The number of log-probabilities differs from the number of tokens. */
    LOG_PROBS_MISSING,
    /** A log-probability is NaN, infinite, or the floor that represents infinity. */
    NOT_FINITE,
    /** A log-probability is above 0. */
    POSITIVE,
    /** The server understood another prompt. */
    OTHER_PROMPT,
    /** The server can report which weights sampled the completion, and did not. */
    VERSION_MISSING,
    /** The weights were never published by this run. */
    FOREIGN_WEIGHTS,
    /** The weights may have been partly read, and the server does not report for which tokens. */
    HALF_WEIGHTS
  }
}
