package io.troupe.engine.http.protocol;

import static io.troupe.core.Require.require;

import io.troupe.core.outage.Backoff;
import java.time.Duration;

/**
 * Decides whether a failed request is sent again.
 *
 * <p>A request is never sent again once a token of it was sampled: the second answer would be
 * another sample, chosen because the first was cut, and completions that are cut more often would
 * be sampled again more often. Such a completion is continued after its tokens, or given up. A
 * request that is itself at fault is never sent again. Any other request is sent again after a
 * pause that doubles, as long as the deadline allows.
 *
 * @param attempts most tries in all
 * @param first pause before the second try
 * @param longest longest pause
 */
public record RetryPolicy(int attempts, Duration first, Duration longest) {
  /** Five tries, from 50 ms to 5 s apart. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(5, Duration.ofMillis(50), Duration.ofSeconds(5));

  /** A completion that is cut more often than this is given up. */
  public static final int MOST_CUTS = 8;

  /** The decision. */
  public sealed interface RetryDecision {
    /** Send the request again after a pause. */
    record Again(Duration pause) implements RetryDecision {}

    /** Give the request up. */
    record GiveUp() implements RetryDecision {}
  }

  public RetryPolicy {
    require(attempts >= 1, "a request is tried at least once, not %d times", attempts);
    require(
        !first.isNegative() && first.compareTo(longest) <= 0,
        "the first pause (%s) is at most the longest (%s)",
        first,
        longest);
  }

  /**
   * Decides after a failure.
   *
   * @param tries tries so far, 1 or more
   * @param tokens tokens of the answer that arrived
   * @param left time until the deadline
   * @param jitter in [0, 1), so that clients do not retry together
   */
  public RetryDecision after(
      CallFailure fault, int tries, int tokens, Duration left, double jitter) {
    boolean mayHelp =
        switch (fault.kind()) {
          case BUSY, NO_CONNECTION, NO_ADAPTER -> true;
          case SERVER, IN_STREAM, TRUNCATED, NO_ANSWER -> tries < 2; // another replica may succeed
          case BAD_REQUEST,
              UNAUTHORISED,
              NO_MODEL,
              NO_ROUTE,
              MALFORMED,
              STALLED,
              TOO_LATE,
              UNEXPECTED ->
              false;
        };
    if (!mayHelp || tokens > 0 || tries >= attempts) {
      return new RetryDecision.GiveUp();
    }
    Duration pause = pause(tries, jitter);
    return within(fault.retryAfter().compareTo(pause) > 0 ? fault.retryAfter() : pause, left);
  }

  /**
   * Decides after a server refused a request for completions. Other servers answer the same
   * request, so another server, or this one after a check, may succeed.
   *
   * @param tries tries so far, 1 or more
   * @param left time until the deadline
   */
  public RetryDecision afterRefusal(int tries, Duration left, double jitter) {
    return tries >= attempts ? new RetryDecision.GiveUp() : within(pause(tries, jitter), left);
  }

  /**
   * Decides after a completion was cut and its beginning kept: the rest is requested after a pause,
   * because the client that aborts requests may still be doing so.
   *
   * @param cuts cuts of the completion so far, 1 or more
   * @param left time until the deadline, counted from the completion's first request
   */
  public RetryDecision afterCut(int cuts, Duration left, double jitter) {
    return cuts > MOST_CUTS ? new RetryDecision.GiveUp() : within(pause(cuts, jitter), left);
  }

  private Duration pause(int tries, double jitter) {
    Backoff backoff = new Backoff(first.toMillis(), longest.toMillis());
    return Duration.ofMillis(backoff.pauseMillis(tries, jitter));
  }

  private static RetryDecision within(Duration wait, Duration left) {
    return wait.compareTo(left) < 0 ? new RetryDecision.Again(wait) : new RetryDecision.GiveUp();
  }
}
