package io.troupe.engine.http.sidecar;

import static io.troupe.core.Require.require;

import io.troupe.core.outage.RestartBackoff;
import java.time.Duration;
import java.util.Optional;

/**
 * Decides what to do about one child process; time is an argument.
 *
 * <p>A child that ends is restarted after the delay of {@link RestartBackoff}, for as long as it is
 * needed: the cause, such as a file system, a driver or another program's memory, may last longer
 * than any number of quick restarts. A child is given up only where another process restarts this
 * process.
 *
 * @param settings the settings
 * @param phase the child's phase
 * @param restarts ends in a row, without a long time up between them
 * @param served whether the child ever served
 */
public record SidecarSupervision(
    Settings settings, ServerPhase phase, RestartBackoff restarts, boolean served) {
  private static final Duration STEADY_AFTER = Duration.ofMinutes(5);

  /**
   * The settings of a supervision.
   *
   * @param startWithin time from the start until the child serves
   * @param pauses delays before the next start
   * @param steadyAfter time up after which earlier ends are forgotten
   * @param givesUp whether the child is given up once it keeps ending
   */
  public record Settings(
      Duration startWithin, RestartBackoff.Settings pauses, Duration steadyAfter, boolean givesUp) {
    public Settings {
      require(startWithin.isPositive(), "a start takes longer than 0, not %s", startWithin);
    }

    /**
     * Settings of a server whose worker ends with it: the node restarts both after longer delays.
     */
    public static Settings ofWorker(Duration startWithin) {
      return of(startWithin, RestartBackoff.Settings.WITHIN_A_PROCESS, true);
    }

    /** Settings of a server that is restarted as long as its run lasts. */
    public static Settings startingWithin(Duration startWithin) {
      return of(startWithin, RestartBackoff.Settings.DEFAULT, false);
    }

    private static Settings of(
        Duration startWithin, RestartBackoff.Settings pauses, boolean givesUp) {
      return new Settings(
          startWithin, pauses.startingWithin(startWithin.toMillis()), STEADY_AFTER, givesUp);
    }
  }

  /** The phase of a child. Times are milliseconds of the caller's clock. */
  public sealed interface ServerPhase {
    /** The child runs, and does not serve yet. */
    record Starting(long since) implements ServerPhase {}

    record Up(long since) implements ServerPhase {}

    /**
     * The child ended and is restarted at {@code until}; the reason is empty before its first
     * start.
     */
    record Resting(long until, String why) implements ServerPhase {}

    /** The child is not restarted. */
    record GivenUp(String reason) implements ServerPhase {}
  }

  /** A child that is started immediately. */
  public static SidecarSupervision begin(Settings settings) {
    return new SidecarSupervision(
        settings,
        new ServerPhase.Resting(Long.MIN_VALUE, ""),
        RestartBackoff.none(settings.pauses),
        false);
  }

  public SidecarSupervision started(long now) {
    return new SidecarSupervision(settings, new ServerPhase.Starting(now), restarts, served);
  }

  public SidecarSupervision serves(long now) {
    return new SidecarSupervision(settings, new ServerPhase.Up(now), restarts, true);
  }

  /** Whether the time to start has passed. */
  public boolean startTimedOut(long now) {
    return phase instanceof ServerPhase.Starting(long since)
        && now - since > settings.startWithin.toMillis();
  }

  /** The child was ended on purpose, and is restarted immediately. */
  public SidecarSupervision replaced() {
    return new SidecarSupervision(
        settings, new ServerPhase.Resting(Long.MIN_VALUE, ""), restarts, served);
  }

  /** The child ended, for any reason. */
  public SidecarSupervision ended(long now, String why) {
    boolean steady =
        phase instanceof ServerPhase.Up(long since)
            && now - since >= settings.steadyAfter.toMillis();
    RestartBackoff next = (steady ? RestartBackoff.none(settings.pauses) : restarts).ended(now);
    if (settings.givesUp && next.persistent()) {
      String how = served ? "it ended %d times in a row" : "it never served in %d starts";
      return new SidecarSupervision(
          settings,
          new ServerPhase.GivenUp(
              "%s, at last: %s".formatted(how.formatted(next.endings().size()), why)),
          next,
          served);
    }
    return new SidecarSupervision(
        settings, new ServerPhase.Resting(now + next.pauseMillis(), why), next, served);
  }

  /**
   * Returns the reason why the child does not serve, once it has ended so often that it is retried
   * only rarely.
   */
  public Optional<String> failing() {
    return restarts.persistent()
            && phase instanceof ServerPhase.Resting(long _, String why)
            && !why.isEmpty()
        ? Optional.of(
            "it ended %d times in a row and is started again every %d s, at last: %s"
                .formatted(restarts.endings().size(), restarts.pauseMillis() / 1000, why))
        : Optional.empty();
  }
}
