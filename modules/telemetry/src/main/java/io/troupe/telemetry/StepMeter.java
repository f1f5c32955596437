package io.troupe.telemetry;

import io.troupe.core.advantage.Advantages;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import io.troupe.core.train.CompletionStatistics;
import io.troupe.core.train.LossMetrics;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Adds up what happens between two steps into a {@link StepRow}. Times are milliseconds on the
 * caller's monotonic clock, which starts with the process. Not thread-safe: it belongs to the
 * coordinator.
 */
public final class StepMeter {
  /** The part that the run waits for, seen from the trainer. */
  private enum WaitingFor {
    /** The trainer computes: it is what the rest waits for. */
    TRAINER,
    /** The trainer is idle and completions are being sampled. */
    ROLLOUT,
    /** The trainer is idle and all that is under lease is being verified. */
    VERIFIER,
    /** The trainer is idle, and no worker has asked for work. */
    WORKERS
  }

  /**
   * The trainer's measurements of a step.
   *
   * @see StepRow.Training
   */
  public record Reading(
      LossMetrics loss,
      double entropy,
      double gradientNorm,
      double paddingShare,
      double gradientSeconds,
      double optimizerSeconds,
      double referenceSeconds,
      double learningRate,
      long trainedTokens,
      long maskedTokens,
      long stalenessMax,
      double stalenessMean,
      double trainSeconds,
      CompletionStatistics completions) {}

  /**
   * The work of the verifier pools since the process began.
   *
   * @param millisP50 median time of a verification, of the slowest pool
   * @param millisP99 the time that one in a hundred exceeds, of the slowest pool
   * @param timeouts verifications ended at their deadline
   * @param crashes verifications that failed, or whose process died
   * @param waiting verifications in queues now
   */
  public record Verification(
      double millisP50, double millisP99, long timeouts, long crashes, long waiting) {
    /** The numbers before the first verdict. */
    public static final Verification NONE = new Verification(0, 0, 0, 0, 0);
  }

  private final Map<WaitingFor, Long> spent = new EnumMap<>(WaitingFor.class);
  private WaitingFor cause = WaitingFor.WORKERS;
  private RunState last = RunState.INITIAL;
  private long causeSince;
  private long lastStepAt;
  private long groups;
  private long degenerate;
  private long allRight;
  private long allWrong;
  private long rollouts;
  private double rewards;
  private long tokens;
  private long filtered;
  private long requeued;
  private long refused;
  private long ended;
  private long lost;
  private double cpuSeconds = Double.NaN;
  private EpisodeMeter episodes = new EpisodeMeter();
  private Verification verified = Verification.NONE;

  /** A meter that starts now. */
  public StepMeter(long nowMillis) {
    causeSince = nowMillis;
    lastStepAt = nowMillis;
  }

  /** Takes note of an event. */
  public void event(Event event) {
    switch (event) {
      case Event.GroupBuffered(GroupSummary summary) -> scored(summary);
      case Event.GroupFiltered(GroupSummary summary) -> {
        scored(summary);
        filtered++;
      }
      case Event.LeaseEnded _ -> {
        ended++;
        lost++;
      }
      case Event.GroupStale _ -> {
        requeued++;
        lost++;
      }
      case Event.AnswerRefused _ -> refused++;
      default -> {}
    }
  }

  /** Takes note of the state after a decision, and of what the run waits for from now on. */
  public void observe(RunState state, long nowMillis) {
    last = state;
    WaitingFor now = causeIn(state);
    if (now != cause) {
      addElapsed(nowMillis);
      cause = now;
    }
  }

  /**
   * Returns the row of a step that has just ended; counting starts again.
   *
   * @param cpu seconds of the process so far, all threads together; not a number where the system
   *     does not report it
   */
  public StepRow row(
      long step, Reading reading, Verification verification, double cpu, long nowMillis) {
    addElapsed(nowMillis);
    StepRow row =
        new StepRow(
            step,
            nowMillis / 1000.0,
            OptionalDouble.empty(),
            Map.of(),
            Optional.of(training(reading, verification, cpu, nowMillis)),
            episodes.measured());
    verified = verification;
    cpuSeconds = cpu;
    reset(nowMillis);
    return row;
  }

  private StepRow.Training training(
      Reading reading, Verification verification, double cpu, long nowMillis) {
    double seconds = Math.max(1, nowMillis - lastStepAt) / 1000.0;
    long waited =
        spent.entrySet().stream()
            .filter(entry -> entry.getKey() != WaitingFor.TRAINER)
            .mapToLong(Map.Entry::getValue)
            .sum();
    LossMetrics loss = reading.loss();
    return new StepRow.Training(
        ratio(rewards, rollouts),
        reading.stalenessMax(),
        reading.stalenessMean(),
        ratio((double) degenerate, groups),
        ratio((double) lost, ended),
        ratio((double) tokens, rollouts),
        loss.behaviourKl(),
        reading.gradientNorm(),
        mostSpentOn(),
        tokens / seconds,
        loss.loss(),
        reading.learningRate(),
        reading.entropy(),
        loss.clippedLow(),
        loss.clippedHigh(),
        loss.gapMax(),
        loss.gapMean(),
        loss.gapP99(),
        loss.ratioP50(),
        loss.ratioP90(),
        loss.ratioP99(),
        loss.ratioMax(),
        loss.effectiveShare(),
        loss.truncated(),
        loss.correctionMasked(),
        loss.referenceKl(),
        loss.distillation(),
        loss.supervisedLoss(),
        reading.trainedTokens(),
        reading.maskedTokens(),
        reading.paddingShare(),
        reading.trainSeconds(),
        reading.gradientSeconds(),
        reading.optimizerSeconds(),
        reading.referenceSeconds(),
        waited / 1000.0,
        groups,
        filtered,
        requeued,
        refused,
        verification.millisP50(),
        verification.millisP99(),
        verification.timeouts() - verified.timeouts(),
        verification.crashes() - verified.crashes(),
        verification.waiting(),
        reading.completions().reward(),
        ratio((double) allRight, groups),
        ratio((double) allWrong, groups),
        loss.referenceKlMax(),
        reading.completions().stopShare(),
        reading.completions().stopStringShare(),
        reading.completions().truncatedShare(),
        reading.completions().rewardLengthCorrelation(),
        reading.completions().lengthRight(),
        reading.completions().lengthWrong(),
        cpu - cpuSeconds,
        reused());
  }

  private void scored(GroupSummary summary) {
    groups++;
    ended++;
    rollouts += summary.rewards().size();
    tokens += summary.tokens();
    summary.episodes().forEach(episodes::add);
    double[] values = summary.rewards().stream().mapToDouble(Double::doubleValue).toArray();
    for (double reward : values) {
      rewards += reward;
    }
    if (Advantages.degenerate(values)) {
      degenerate++;
    }
    if (summary.perfect()) {
      allRight++;
    }
    if (summary.passed() == 0) {
      allWrong++;
    }
  }

  private static WaitingFor causeIn(RunState state) {
    if (state.inTraining().findAny().isPresent()) {
      return WaitingFor.TRAINER;
    }
    if (state.leases().findAny().isEmpty()) {
      return WaitingFor.WORKERS;
    }
    return state.leases().allMatch(Group.Leased::sampled)
        ? WaitingFor.VERIFIER
        : WaitingFor.ROLLOUT;
  }

  /** Counts in the last state, in which the step's groups are still in training. */
  private long reused() {
    return last.inTraining()
        .filter(group -> group.stage() instanceof Group.Training used && used.uses() > 0)
        .count();
  }

  private void addElapsed(long nowMillis) {
    spent.merge(cause, nowMillis - causeSince, Long::sum);
    causeSince = nowMillis;
  }

  private String mostSpentOn() {
    return spent.entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .map(entry -> entry.getKey().name().toLowerCase(Locale.ROOT))
        .orElse("");
  }

  /** Not a number when there was nothing: an average of nothing is not zero. */
  private static double ratio(double part, long whole) {
    return whole == 0 ? Double.NaN : part / whole;
  }

  private void reset(long nowMillis) {
    spent.clear();
    episodes = new EpisodeMeter();
    lastStepAt = nowMillis;
    groups = 0;
    degenerate = 0;
    allRight = 0;
    allWrong = 0;
    rollouts = 0;
    rewards = 0;
    tokens = 0;
    filtered = 0;
    requeued = 0;
    refused = 0;
    ended = 0;
    lost = 0;
  }
}
