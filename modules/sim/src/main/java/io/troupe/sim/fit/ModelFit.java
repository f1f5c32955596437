package io.troupe.sim.fit;

import static io.troupe.core.Require.require;

import io.troupe.sim.model.ClusterShape.CpuShape;
import io.troupe.sim.model.ControlModel;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.EngineModel;
import io.troupe.sim.model.FailureRates;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.LatencySource;
import io.troupe.sim.model.LengthModel;
import io.troupe.sim.model.PublishModel;
import io.troupe.sim.model.TrainModel;
import io.troupe.sim.model.VerifyModel;
import io.troupe.sim.model.Workload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

/**
 * Fits a model to a measured run.
 *
 * <p>A group's sampling takes p + a·M + b·M·R, with M tokens of its longest completion and R
 * completions that its worker decoded meanwhile on average; a step takes a + b·tokens. Both are
 * least squares, weighted by one over the square of the time, so that relative errors count.
 */
public final class ModelFit {
  /** Fewer groups say nothing of the tail of lengths. */
  public static final int LEAST_GROUPS = 30;

  /** Fewer steps say nothing of what a token costs. */
  public static final int LEAST_STEPS = 5;

  private static final int MOST_GROUPS = 4_000;
  private static final double LEAST_SHARE = 0.01;
  private static final double LEAST_OF_CPU = 0.9;
  private static final double MILLIS = 1e3;
  private static final double LEAST_SECONDS = 1e-3;

  private final MeasuredRun run;
  private final FitSettings settings;
  private final List<BusyParts.Span> spans;
  private final CpuShape cpu;
  private final BusyTime time;

  private ModelFit(MeasuredRun run, FitSettings settings) {
    this.run = run;
    this.settings = settings;
    this.spans = new BusyParts(run, settings.cpu()).spans();
    this.cpu = shared();
    this.time = new BusyTime(spans, cpu);
  }

  /**
   * The model of a run.
   *
   * @throws IllegalArgumentException if it has too few groups or steps
   */
  public static LatencyModel of(MeasuredRun run, FitSettings settings) {
    require(
        run.groupCount() >= LEAST_GROUPS && run.stepCount() >= LEAST_STEPS,
        "%s has %d groups and %d steps, and a fit needs %d and %d; let the run make more",
        settings.run(),
        run.groupCount(),
        run.stepCount(),
        LEAST_GROUPS,
        LEAST_STEPS);
    return new ModelFit(run, settings).fit();
  }

  private CpuShape shared() {
    CpuShape parts = settings.cpu();
    return new CpuShape(
        parts.cores(),
        parts.samplerThreads(),
        parts.trainerThreads(),
        BackgroundThreads.fit(betweenSteps(), parts.cores(), settings.computingThreads()));
  }

  private List<BusyParts.Span> betweenSteps() {
    long first = run.measuredSteps().getFirst().trained();
    long last = run.measuredSteps().getLast().trained();
    return spans.stream().filter(span -> span.from() >= first && span.until() <= last).toList();
  }

  /** Returns the doubts about the shares of the cores that the fit uses. */
  private String doubts() {
    double needed = BackgroundThreads.busy(betweenSteps(), cpu.cores(), 0);
    double had = settings.computingThreads();
    if (cpu.cores() == 0) {
      return "";
    }
    if (had == 0) {
      return "; its metrics have no CPU time, so that nothing counts but trainer and workers";
    }
    return had < LEAST_OF_CPU * needed
        ? "; other programs had cores that it needed (%.2f of %.2f threads)".formatted(had, needed)
        : "";
  }

  private LatencyModel fit() {
    List<MeasuredGroupLife> groups = new ArrayList<>(run.groups());
    groups.sort(Comparator.comparingLong(MeasuredGroupLife::number));
    double[] decode = LeastSquares.fit(groups.stream().map(this::decoding).toList());
    TrainModel training = training();
    SortedSet<Double> threads = seen(BusyParts.Span::threads);
    return new LatencyModel(
        new LatencySource(
            "measured: %s, %d groups, %d steps%s"
                .formatted(settings.run(), groups.size(), run.stepCount(), doubts()),
            settings.policy(),
            groups.size(),
            seen(BusyParts.Span::mostRows).last().intValue(),
            1,
            cpu.cores() == 0 ? 0 : threads.first(),
            cpu.cores() == 0 ? 0 : threads.last()),
        new Workload(lengths(groups), settings.promptTokens(), 0, 0),
        new EngineModel(
            new DecodeModel.Linear(Math.max(decode[1], 1e-9), decode[2], 0), 0, decode[0], 1, 0),
        verification(groups),
        training,
        new PublishModel(0, 0, 1, 1, 0),
        new FailureRates(run.deathsPerHour(), 30, 0, 0, 0, 0, 0, 30),
        new ControlModel(
            0,
            training.sigma() / Math.sqrt(run.stepCount()),
            cpu.cores(),
            cpu.backgroundThreads()));
  }

  private LeastSquares.Observation decoding(MeasuredGroupLife group) {
    double seconds = Math.max(LEAST_SECONDS, time.seconds(group.granted(), group.sampled()));
    double rows = time.rowSeconds(group.worker(), group.granted(), group.sampled()) / seconds;
    double longest = group.longest();
    return new LeastSquares.Observation(
        new double[] {1, longest, longest * Math.max(1, rows)}, seconds, 1 / (seconds * seconds));
  }

  /**
   * Returns the numbers that held for more of the run than a moment, from the least to the most; 0
   * left out.
   */
  private SortedSet<Double> seen(ToDoubleFunction<BusyParts.Span> number) {
    SortedMap<Double, Double> millis = new TreeMap<>();
    spans.forEach(span -> millis.merge(number.applyAsDouble(span), span.millis(), Double::sum));
    millis.remove(0.0);
    double moment = LEAST_SHARE * millis.values().stream().mapToDouble(each -> each).sum();
    millis.values().removeIf(each -> each < moment);
    return new TreeSet<>(millis.keySet());
  }

  private TrainModel training() {
    List<LeastSquares.Observation> observations = new ArrayList<>();
    for (MeasuredRun.MeasuredStep step : run.measuredSteps()) {
      double seconds = Math.max(LEAST_SECONDS / 2, time.seconds(step.started(), step.trained()));
      observations.add(
          new LeastSquares.Observation(
              new double[] {1, step.tokens()}, seconds, 1 / (seconds * seconds)));
    }
    double[] fitted = LeastSquares.fit(observations);
    double sum = 0;
    double squares = 0;
    for (LeastSquares.Observation each : observations) {
      double predicted = fitted[0] + fitted[1] * each.x()[1];
      double error = Math.log(each.y() / predicted);
      sum += error;
      squares += error * error;
    }
    int n = observations.size();
    double bias = Math.exp(sum / n);
    double sigma = Math.sqrt(Math.max(0, squares / n - sum * sum / n / n));
    // Weighted least squares pulls to short steps; the mean time must be the measured one.
    double scale = meanRatio(observations, fitted, bias);
    return new TrainModel(fitted[0] * scale, fitted[1] * scale, 0, 0, Math.min(1, sigma));
  }

  private static double meanRatio(
      List<LeastSquares.Observation> observations, double[] fitted, double otherwise) {
    double measured = 0;
    double predicted = 0;
    for (LeastSquares.Observation each : observations) {
      measured += each.y();
      predicted += fitted[0] + fitted[1] * each.x()[1];
    }
    return predicted > 0 ? measured / predicted : otherwise;
  }

  private VerifyModel verification(List<MeasuredGroupLife> groups) {
    double whole =
        groups.stream().mapToLong(group -> group.scored() - group.sampled()).average().orElse(0)
            / MILLIS;
    return new VerifyModel(
        settings.verifySeconds(), 0, Math.max(0, whole - settings.verifySeconds()));
  }

  private LengthModel lengths(List<MeasuredGroupLife> groups) {
    List<LengthModel.MeasuredGroup> kept = new ArrayList<>();
    double stride = Math.max(1, groups.size() / (double) MOST_GROUPS);
    for (double i = 0; i < groups.size(); i += stride) {
      MeasuredGroupLife group = groups.get((int) i);
      kept.add(new LengthModel.MeasuredGroup(group.lengths(), group.rewards()));
    }
    return new LengthModel.Empirical(kept, settings.maxTokens(), stride == 1 && drifts(groups));
  }

  /** Whether the first and the last third of the groups differ by more than chance. */
  private static boolean drifts(List<MeasuredGroupLife> groups) {
    int third = groups.size() / 3;
    List<MeasuredGroupLife> first = groups.subList(0, third);
    List<MeasuredGroupLife> last = groups.subList(groups.size() - third, groups.size());
    return differ(first, last, true) || differ(first, last, false);
  }

  private static boolean differ(
      List<MeasuredGroupLife> first, List<MeasuredGroupLife> last, boolean lengths) {
    double[] one = moments(first, lengths);
    double[] other = moments(last, lengths);
    double error = Math.sqrt(one[1] / first.size() + other[1] / last.size());
    return Math.abs(one[0] - other[0]) > 3 * error;
  }

  /** Mean and variance over groups of the longest completion, or of whether rewards are equal. */
  private static double[] moments(List<MeasuredGroupLife> groups, boolean lengths) {
    double sum = 0;
    double squares = 0;
    for (MeasuredGroupLife group : groups) {
      double value =
          lengths ? group.longest() : group.rewards().stream().distinct().count() == 1 ? 1 : 0;
      sum += value;
      squares += value * value;
    }
    double mean = sum / groups.size();
    return new double[] {mean, squares / groups.size() - mean * mean};
  }
}
