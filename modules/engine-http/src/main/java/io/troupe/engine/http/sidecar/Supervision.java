package io.troupe.engine.http.sidecar;

import static io.troupe.core.Require.require;

import java.time.Duration;

/**
 * What is to be done about one child process; time is an argument.
 *
 * <p>A child that ends is started again after a pause that doubles with each end in a row; one that
 * was up for a while has earned a clean slate; one that keeps ending is given up, one that never
 * served after {@value #STARTS_BEFORE_SERVING} starts, because a server that cannot start does not
 * learn to by being started.
 *
 * @param settings the terms
 * @param phase where it is
 * @param ends in a row, without a long time up between
 * @param served whether it ever did
 */
public record Supervision(Settings settings, Phase phase, int ends, boolean served) {
  /** Starts in all of a child that never serves. */
  public static final int STARTS_BEFORE_SERVING = 3;

  /**
   * The terms.
   *
   * @param startWithin from the start to the first sign that it serves
   * @param firstPause before the second start
   * @param longestPause between two starts
   * @param steadyAfter time up that makes earlier ends forgotten
   * @param mostEnds in a row; one more and it is given up
   */
  public record Settings(
      Duration startWithin,
      Duration firstPause,
      Duration longestPause,
      Duration steadyAfter,
      int mostEnds) {
    public Settings {
      require(startWithin.isPositive(), "a start takes longer than 0, not %s", startWithin);
      require(
          firstPause.compareTo(longestPause) <= 0,
          "the first pause (%s) is at most the longest (%s)",
          firstPause,
          longestPause);
      require(mostEnds >= 1, "a child may end at least once, not %d times", mostEnds);
    }

    /**
     * The same of a server whose worker ends with it: the node starts both again after longer
     * pauses, so three ends are enough.
     */
    public static Settings ofWorker(Duration startWithin) {
      return new Settings(
          startWithin, Duration.ofSeconds(1), Duration.ofMinutes(1), Duration.ofMinutes(5), 3);
    }

    /** Pauses of 1 s to 1 min; steady after 5 min; given up after 8 ends. */
    public static Settings startingWithin(Duration startWithin) {
      return new Settings(
          startWithin, Duration.ofSeconds(1), Duration.ofMinutes(1), Duration.ofMinutes(5), 8);
    }
  }

  /** Where a child is. Times are milliseconds of the caller's clock. */
  public sealed interface Phase {
    /** It runs, and does not serve yet. */
    record Starting(long since) implements Phase {}

    record Up(long since) implements Phase {}

    /** It ended, and is started again then. */
    record Resting(long until) implements Phase {}

    /** It is not started again. */
    record GivenUp(String reason) implements Phase {}
  }

  /** A child that is started at once. */
  public static Supervision begin(Settings settings) {
    return new Supervision(settings, new Phase.Resting(Long.MIN_VALUE), 0, false);
  }

  public Supervision started(long now) {
    return new Supervision(settings, new Phase.Starting(now), ends, served);
  }

  public Supervision serves(long now) {
    return new Supervision(settings, new Phase.Up(now), ends, true);
  }

  /** Whether it has had its time to start. */
  public boolean overdue(long now) {
    return phase instanceof Phase.Starting(long since)
        && now - since > settings.startWithin.toMillis();
  }

  /** It was ended on purpose, and is started at once. */
  public Supervision replaced() {
    return new Supervision(settings, new Phase.Resting(Long.MIN_VALUE), ends, served);
  }

  /** It ended, whoever ended it. */
  public Supervision ended(long now, String why) {
    boolean steady =
        phase instanceof Phase.Up(long since) && now - since >= settings.steadyAfter.toMillis();
    int inARow = steady ? 1 : ends + 1;
    int most = served ? settings.mostEnds : Math.min(settings.mostEnds, STARTS_BEFORE_SERVING - 1);
    if (inARow > most) {
      String how = served ? "it ended %d times in a row" : "it never served in %d starts";
      return new Supervision(
          settings,
          new Phase.GivenUp("%s, at last: %s".formatted(how.formatted(inARow), why)),
          inARow,
          served);
    }
    long doubled = settings.firstPause.toMillis() << Math.min(inARow - 1, 20);
    return new Supervision(
        settings,
        new Phase.Resting(now + Math.min(doubled, settings.longestPause.toMillis())),
        inARow,
        served);
  }
}
