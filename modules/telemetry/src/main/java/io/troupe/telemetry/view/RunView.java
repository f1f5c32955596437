package io.troupe.telemetry.view;

import java.util.List;
import java.util.Map;

/**
 * A run at a glance: what the console's first page shows, and {@code troupe status} prints.
 *
 * @param asOf time of the view, in milliseconds since 1970
 * @param phase starting, running, draining, saving, or ended
 * @param since time of the first event; 0 before
 * @param end end of the run; "" while it has not ended
 * @param version of the newest weights
 * @param bottleneck part that holds the run back, in one sentence
 * @param troubles infrastructure that is out of order, oldest first
 * @param standstill whether nothing can be sampled and judged because of them
 * @param stages of the loop, in its order
 * @param headline the newest step's metrics by name; empty before the first step
 * @param groupsPerMinute scored over the window
 * @param stalenessTrained tokens trained on, by staleness since the run began
 * @param traceLinesRefused since this process began, because their disk did not keep up
 * @param copy of the run folder in a store of objects
 * @param lost groups that were lost, by reason, in a line; "" if none was
 */
public record RunView(
    long asOf,
    RunViewSettings facts,
    String phase,
    long since,
    String end,
    long version,
    boolean paused,
    boolean checkpointAsked,
    int concurrency,
    long events,
    long lastEventAt,
    String bottleneck,
    List<Trouble> troubles,
    boolean standstill,
    List<Stage> stages,
    Map<String, Object> headline,
    double groupsPerMinute,
    List<Long> stalenessTrained,
    GroupAccounting accounting,
    boolean balanced,
    long traceLinesRefused,
    CopyView copy,
    String lost,
    List<EventText> lately) {
  /**
   * A part of the infrastructure that is out of order.
   *
   * @param who a worker's place, the verifiers, the workers where none is there, the trainer's
   *     ranks, the traces, the copy, or a tracker
   * @param what is the matter with it
   * @param since milliseconds since 1970
   * @param reason the last failure
   */
  public record Trouble(String who, String what, long since, String reason) {}

  /**
   * A stage of the loop.
   *
   * @param shares of the window; they add up to one
   * @param now present work of the worker
   */
  public record Stage(String name, List<Share> shares, String now, boolean bottleneck) {}

  /**
   * A part of a stage's time.
   *
   * @param word name of the work
   * @param kind busy, idle or blocked
   */
  public record Share(String word, String kind, double share) {}

  /**
   * A rollout worker.
   *
   * @param version newest weights it is known to hold: it was granted a lease at them, or answered
   *     with a token of them; -1 before
   * @param behind versions behind the newest
   * @param holds groups under lease
   * @param demand groups it would take more
   */
  public record WorkerRow(
      String worker,
      String node,
      boolean present,
      long since,
      long version,
      long behind,
      long holds,
      long verifying,
      long demand,
      long answered,
      long tokens,
      long lastAnswerAt,
      List<Share> shares,
      List<Bar> bars) {}

  /** A worker held a version from one moment to another. */
  public record Bar(long version, long from, long until) {}

  /**
   * Weights and who holds them.
   *
   * @param published versions and when their step ended, newest last
   */
  public record Weights(long asOf, long version, List<Bar> published, List<WorkerRow> workers) {}

  /**
   * Staleness against its bound.
   *
   * @param trained tokens by staleness, since the run began
   * @param inFlight groups under lease by staleness now
   * @param inQueue buffered groups by staleness of their oldest token now
   * @param whatIf for each bound, what the groups trained last would have cost under it
   * @param sample groups that whatIf looks at
   * @param series leases, buffer and admission at the end of each step
   * @param refusals refused answers by reason
   * @param lost leases that ended without an answer, by reason
   */
  public record Staleness(
      long asOf,
      int bound,
      String policy,
      List<Long> trained,
      List<Long> inFlight,
      List<Long> inQueue,
      List<WhatIf> whatIf,
      int sample,
      List<Point> series,
      Map<String, Long> refusals,
      Map<String, Long> lost) {}

  /**
   * The cost of a bound.
   *
   * @param groups without a single token young enough
   * @param maskedShare tokens too old, of all
   */
  public record WhatIf(int bound, long groups, double groupShare, double maskedShare) {}

  /** The loop at the end of a step. */
  public record Point(long step, long at, long leased, long buffered, long capacity) {}

  /**
   * The waits of a run: who waits for whom.
   *
   * @param root the cause of it all, in one sentence
   */
  public record Waits(long asOf, String root, List<Wait> waits) {}

  /**
   * A part of the run that waits for another.
   *
   * @param since milliseconds since 1970
   */
  public record Wait(String who, String on, long since, String why) {}

  /** A moment that curves mark: a restart, an order. */
  public record Mark(long step, long at, String kind, String text) {}
}
