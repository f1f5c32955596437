package io.troupe.sim.engine;

import io.troupe.core.completion.TokensByVersion;
import io.troupe.core.rollout.Admission;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunLimits;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import io.troupe.core.train.LossTokens;
import io.troupe.sim.model.SimulationResult.Bound;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Adds up what the coordinator's events and states come to over virtual time. */
@SuppressWarnings("EnumOrdinal") // an index that never leaves this file
final class RunMeter {
  private static final int STALENESS_BINS = 64;

  private final RunLimits limits;
  private final long[] staleness = new long[STALENESS_BINS];
  private final double[] boundSeconds = new double[Bound.values().length];
  private Bound bound = Bound.NONE;
  private long at;
  private double bufferedSeconds;
  private double leasedSeconds;
  private int buffered;
  private int leased;
  private long firstStepAt;
  private long lastStepAt;
  private long steps;
  private long weighted;
  private long unweighted;
  private LossTokens running = new LossTokens(0, 0, 0);

  RunMeter(RunLimits limits) {
    this.limits = limits;
  }

  void observe(long now, RunState state, List<Event> events) {
    double seconds = Agenda.seconds(now - at);
    if (seconds > 0) {
      bufferedSeconds += seconds * buffered;
      leasedSeconds += seconds * leased;
      boundSeconds[bound.ordinal()] += seconds;
      at = now;
    }
    for (int i = 0; i < events.size(); i++) {
      event(events.get(i), state);
    }
    buffered = state.bufferedCount();
    leased = state.leaseCount();
    bound = boundIn(state);
  }

  private void event(Event event, RunState state) {
    switch (event) {
      case Event.StepStarted _ -> running = count(state);
      case Event.StepTrained(long step, var _) -> {
        lastStepAt = at;
        steps++;
        if (step == 1) {
          firstStepAt = at;
        }
        weighted += running.weighted();
        unweighted += running.unweighted();
      }
      default -> {}
    }
  }

  /** The tokens of the step that begins, as its loss will count them. */
  private LossTokens count(RunState state) {
    long[] counts = new long[3];
    long version = state.version().number();
    state
        .inTraining()
        .forEach(
            group -> {
              GroupSummary summary = ((Group.Training) group.stage()).summary();
              TokensByVersion tokens = summary.tokensByVersion();
              for (int i = 0; i < tokens.size(); i++) {
                count(counts, version - tokens.version(i).number(), tokens.tokens(i));
              }
            });
    return new LossTokens(counts[0], counts[1], counts[2]);
  }

  private void count(long[] counts, long stale, long tokens) {
    if (stale > limits.step().maxStaleness()) {
      counts[1] += tokens;
    } else {
      counts[0] += tokens;
      counts[2] = Math.max(counts[2], stale);
      staleness[(int) Math.min(stale, STALENESS_BINS - 1)] += tokens;
    }
  }

  /** The tokens of the step that runs. */
  LossTokens running() {
    return running;
  }

  /** Returns the reason why no more groups are sampled. */
  private Bound boundIn(RunState state) {
    if (!state.hasUnmetDemand()) {
      return Bound.ROLLOUT;
    }
    if (state.controls().paused() || state.outages().verifiers().open()) {
      return Bound.OUTAGE;
    }
    int uses = limits.step().uses();
    long accepted = state.accepted(uses);
    long outstanding = accepted + uses * leased(state);
    boolean admits =
        Admission.capacity(
                Long.MAX_VALUE,
                leased(state),
                accepted,
                state.version().number(),
                limits.step().groups(),
                limits.step().maxStaleness(),
                uses)
            > 0;
    if (!admits) {
      return Bound.ADMISSION;
    }
    if (leased(state) >= limits.groups().maxConcurrent()) {
      return Bound.CONCURRENCY;
    }
    boolean ends = outstanding >= limits.schedule().steps() * limits.step().groups();
    return ends ? Bound.END : limits.step().lockStep() ? Bound.LOCK_STEP : Bound.NONE;
  }

  private static long leased(RunState state) {
    return state.leaseCount();
  }

  long steps() {
    return steps;
  }

  /** Returns the steps a second between the first step's end and the last one's. */
  double stepsPerSecond() {
    return steps < 2 ? Double.NaN : (steps - 1) / Agenda.seconds(lastStepAt - firstStepAt);
  }

  double firstStepSeconds() {
    return Agenda.seconds(firstStepAt);
  }

  double lastStepSeconds() {
    return Agenda.seconds(lastStepAt);
  }

  /** Mean staleness of the tokens that were trained on. */
  double stalenessMean() {
    double sum = 0;
    for (int i = 0; i < STALENESS_BINS; i++) {
      sum += (double) i * staleness[i];
    }
    return weighted == 0 ? Double.NaN : sum / staleTokens();
  }

  private long staleTokens() {
    long all = 0;
    for (long tokens : staleness) {
      all += tokens;
    }
    return all;
  }

  /** Share of the trained tokens at each staleness, from 0 on. */
  double[] stalenessShares() {
    double all = Math.max(1, staleTokens());
    double[] shares = new double[limits.step().maxStaleness() + 1];
    for (int i = 0; i < shares.length && i < STALENESS_BINS; i++) {
      shares[i] = staleness[i] / all;
    }
    return shares;
  }

  /** Share of the steps' tokens that were too stale. */
  double maskedShare() {
    return weighted + unweighted == 0 ? 0 : (double) unweighted / (weighted + unweighted);
  }

  long trainedTokens() {
    return weighted;
  }

  double bufferedMean() {
    return at == 0 ? 0 : bufferedSeconds / Agenda.seconds(at);
  }

  double leasedMean() {
    return at == 0 ? 0 : leasedSeconds / Agenda.seconds(at);
  }

  /** Share of the time that each bound held. */
  Map<Bound, Double> boundShares() {
    Map<Bound, Double> shares = new EnumMap<>(Bound.class);
    for (Bound each : Bound.values()) {
      if (boundSeconds[each.ordinal()] > 0) {
        shares.put(each, boundSeconds[each.ordinal()] / Agenda.seconds(at));
      }
    }
    return shares;
  }
}
