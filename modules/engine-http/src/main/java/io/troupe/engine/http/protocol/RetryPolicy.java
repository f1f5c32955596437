package io.troupe.engine.http.protocol;

import static io.troupe.core.Require.require;

import io.troupe.core.outage.Backoff;
import java.time.Duration;

/**
 * Whether a failed draw is asked for again.
 *
 * <p>Never once a token of it was produced: a second answer would be another draw, chosen because
 * the first was cut, and completions that are cut more often than others would be drawn again more
 * often; such a draw is gone on with after its tokens, or given up. Never when the request is at
 * fault. Else with a pause that doubles, as long as the deadline allows.
 *
 * @param attempts most tries in all
 * @param first pause before the second try
 * @param longest pause
 */
public record RetryPolicy(int attempts, Duration first, Duration longest) {
  /** Five tries, from 50 ms to 5 s apart. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(5, Duration.ofMillis(50), Duration.ofSeconds(5));

  /** A completion that is cut more often than this is given up. */
  public static final int MOST_CUTS = 8;

  /** What to do. */
  public sealed interface RetryDecision {
    /** Ask again after a pause. */
    record Again(Duration pause) implements RetryDecision {}

    /** It has failed. */
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
   * @param tries made so far, 1 or more
   * @param tokens of the answer that came in
   * @param left until the deadline
   * @param jitter in [0, 1), so that clients do not come back together
   */
  public RetryDecision after(
      CallFailure fault, int tries, int tokens, Duration left, double jitter) {
    boolean mayHelp =
        switch (fault.kind()) {
          case BUSY, NO_CONNECTION, NO_ADAPTER -> true;
          case SERVER, IN_STREAM, TRUNCATED, NO_ANSWER ->
              tries < 2; // another replica may fare well
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
   * Decides after a server refused a request for a draw: it is the same request that others answer,
   * so another server, or this one once it was looked at, may.
   *
   * @param tries made so far, 1 or more
   * @param left until the deadline
   */
  public RetryDecision afterRefusal(int tries, Duration left, double jitter) {
    return tries >= attempts ? new RetryDecision.GiveUp() : within(pause(tries, jitter), left);
  }

  /**
   * Decides after a completion was cut whose beginning is kept: what follows is asked for, after a
   * pause, because whoever aborts requests may not be done.
   *
   * @param cuts it has had, 1 or more
   * @param left until the deadline, counted from the first request for it
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
