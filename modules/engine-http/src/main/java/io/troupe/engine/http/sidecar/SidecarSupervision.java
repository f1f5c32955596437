package io.troupe.engine.http.sidecar;

import static io.troupe.core.Require.require;

import io.troupe.core.outage.RestartBackoff;
import java.time.Duration;
import java.util.Optional;

/**
 * What is to be done about one child process; time is an argument.
 *
 * <p>A child that ends is started again as {@link RestartBackoff} says, for as long as there is use
 * for it: what keeps it from serving, such as a file system, a driver or a neighbour's memory, may
 * last longer than any number of quick starts. Only one whose own process is started again by
 * another one is given up here.
 *
 * @param settings the terms
 * @param phase where it is
 * @param restarts its ends in a row, without a long time up between
 * @param served whether it ever did
 */
public record SidecarSupervision(
    Settings settings, ServerPhase phase, RestartBackoff restarts, boolean served) {
  private static final Duration STEADY_AFTER = Duration.ofMinutes(5);

  /**
   * The terms.
   *
   * @param startWithin from the start to the first sign that it serves
   * @param pauses before the next start
   * @param steadyAfter time up that makes earlier ends forgotten
   * @param givesUp whether it is given up once its ends are persistent
   */
  public record Settings(
      Duration startWithin, RestartBackoff.Settings pauses, Duration steadyAfter, boolean givesUp) {
    public Settings {
      require(startWithin.isPositive(), "a start takes longer than 0, not %s", startWithin);
    }

    /** Of a server whose worker ends with it: the node starts both again after longer pauses. */
    public static Settings ofWorker(Duration startWithin) {
      return of(startWithin, RestartBackoff.Settings.WITHIN_A_PROCESS, true);
    }

    /** Of a server that is started again as long as its run lasts. */
    public static Settings startingWithin(Duration startWithin) {
      return of(startWithin, RestartBackoff.Settings.DEFAULT, false);
    }

    private static Settings of(
        Duration startWithin, RestartBackoff.Settings pauses, boolean givesUp) {
      return new Settings(
          startWithin, pauses.startingWithin(startWithin.toMillis()), STEADY_AFTER, givesUp);
    }
  }

  /** Where a child is. Times are milliseconds of the caller's clock. */
  public sealed interface ServerPhase {
    /** It runs, and does not serve yet. */
    record Starting(long since) implements ServerPhase {}

    record Up(long since) implements ServerPhase {}

    /** It ended, and is started again then; why it ended, "" before its first start. */
    record Resting(long until, String why) implements ServerPhase {}

    /** It is not started again. */
    record GivenUp(String reason) implements ServerPhase {}
  }

  /** A child that is started at once. */
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

  /** Whether it has had its time to start. */
  public boolean startTimedOut(long now) {
    return phase instanceof ServerPhase.Starting(long since)
        && now - since > settings.startWithin.toMillis();
  }

  /** It was ended on purpose, and is started at once. */
  public SidecarSupervision replaced() {
    return new SidecarSupervision(
        settings, new ServerPhase.Resting(Long.MIN_VALUE, ""), restarts, served);
  }

  /** It ended, whoever ended it. */
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

  /** Why it does not serve, once it has ended so often that it is tried again only seldom. */
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
