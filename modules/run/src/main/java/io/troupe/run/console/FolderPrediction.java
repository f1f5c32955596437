package io.troupe.run.console;

import io.troupe.base.failure.Causes;
import io.troupe.config.RunConfig;
import io.troupe.console.source.RunPrediction;
import io.troupe.run.simulation.ModelFile;
import io.troupe.run.simulation.Predictor;
import io.troupe.run.simulation.RunFit;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.report.MeasuredPace;
import io.troupe.sim.report.Prediction;
import io.troupe.store.folder.RunFolder;
import io.troupe.telemetry.view.RunFold;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The prediction of a run beside its newest steps.
 *
 * <p>The model is a file's, {@code model.json} of the run folder unless another is named, or else
 * the run's own fit, made at the first request. Of a run under way that fit is held against the
 * steps behind it, so that it says whether the run still does what it did.
 */
final class FolderPrediction implements RunPrediction {
  /** So many steps are simulated for each seed: a few times what a buffer needs to fill. */
  private static final int STEPS = 80;

  private static final int SEEDS = 5;
  private static final double HOURS = 24 * 365;
  private static final double WHOLE = 100;

  private final RunFolder folder;
  private final RunFold fold;
  private final boolean live;
  private final Path model;
  private Optional<CompletableFuture<Ready>> asked = Optional.empty();

  /**
   * A prediction that is there.
   *
   * @param behind the step up to which the model was fitted on this run; 0 for another model
   */
  private record Ready(Prediction prediction, long behind) {}

  /**
   * Creates the prediction of a run, not computed yet.
   *
   * @param live whether it makes steps
   * @param model file of the model; the run is fitted where it does not exist
   */
  FolderPrediction(RunFolder folder, RunFold fold, boolean live, Path model) {
    this.folder = folder;
    this.fold = fold;
    this.live = live;
    this.model = model;
  }

  @Override
  public Comparison compare(boolean begin) {
    Optional<CompletableFuture<Ready>> prediction = asked(begin);
    if (prediction.isEmpty()) {
      return said("none", "Nobody has asked for a prediction.");
    }
    CompletableFuture<Ready> future = prediction.get();
    return switch (future.state()) {
      case RUNNING -> said("computing", "The run is simulated; this takes some seconds.");
      case SUCCESS -> compared(future.resultNow());
      case FAILED, CANCELLED ->
          said("refused", String.valueOf(Causes.of(future.exceptionNow()).getMessage()));
    };
  }

  /** The prediction, begun where asked for or where the folder has a model file. */
  private synchronized Optional<CompletableFuture<Ready>> asked(boolean begin) {
    if (asked.isEmpty() && (begin || Files.isRegularFile(model))) {
      CompletableFuture<Ready> future = new CompletableFuture<>();
      asked = Optional.of(future.completeAsync(this::predict, FolderPrediction::onThread));
    }
    return asked;
  }

  private static void onThread(Runnable work) {
    Thread.ofPlatform().daemon().name("prediction").start(work);
  }

  private static Comparison said(String state, String sentence) {
    return new Comparison(state, sentence, "", List.of(), List.of(), List.of());
  }

  private Ready predict() {
    try {
      return made();
    } catch (IOException | UnmodelledRunException unfit) {
      throw new CompletionException(unfit);
    }
  }

  private Ready made() throws IOException, UnmodelledRunException {
    long behind = 0;
    LatencyModel latencies;
    if (Files.isRegularFile(model)) {
      latencies = ModelFile.read(model);
    } else {
      RunFit fit = RunFit.of(folder);
      latencies = fit.model();
      behind = live ? fit.measured().stepCount() : 0;
    }
    RunConfig config = RunConfig.load(folder.resolved(), List.of()).config();
    long steps = Math.min(STEPS, config.training().steps());
    List<String> shorter = List.of("training.steps=" + steps);
    return new Ready(
        new Predictor(SEEDS, 1, HOURS, List.of()).predict(folder.resolved(), shorter, latencies),
        behind);
  }

  private Comparison compared(Ready made) {
    Prediction prediction = made.prediction();
    MeasuredPace pace = MeasuredPace.of(newest(made.behind()));
    List<PredictedNumber> numbers = new ArrayList<>();
    List<String> alarms = new ArrayList<>();
    for (MeasuredPace.Compared one : pace.beside(prediction)) {
      numbers.add(
          new PredictedNumber(
              one.name(),
              one.predicted().mean(),
              one.predicted().low(),
              one.predicted().high(),
              one.measured(),
              one.parts()));
      if (one.parts()) {
        alarms.add(
            String.format(
                Locale.ROOT,
                "%s: %.4g over the last %d steps, and %.4g was predicted (%.4g to %.4g): %+.0f %%.",
                one.name(),
                one.measured(),
                pace.steps(),
                one.predicted().mean(),
                one.predicted().low(),
                one.predicted().high(),
                (one.measured() / one.predicted().mean() - 1) * WHOLE));
      }
    }
    String since =
        made.behind() == 0
            ? ""
            : " behind step %d, where the model was fitted".formatted(made.behind());
    String sentence =
        pace.enough()
            ? "Measured over the last %d steps%s.".formatted(pace.steps(), since)
            : "Measured when there are %d steps%s; there are %d."
                .formatted(MeasuredPace.LEAST_STEPS, since, pace.steps());
    return new Comparison(
        "ready",
        sentence,
        prediction.scenario().model().origin().source(),
        numbers,
        alarms,
        prediction.notes());
  }

  private List<MeasuredPace.Step> newest(long behind) {
    List<MeasuredPace.Step> steps = new ArrayList<>();
    for (Map<String, Object> row :
        fold.rows(Math.max(0, fold.rowsSeen() - MeasuredPace.MOST_STEPS))) {
      if (number(row, "step") > behind) {
        steps.add(
            new MeasuredPace.Step(
                number(row, "seconds"),
                number(row, "staleness_mean"),
                number(row, "trained_tokens"),
                number(row, "masked_tokens")));
      }
    }
    return steps;
  }

  private static double number(Map<String, Object> row, String name) {
    return row.get(name) instanceof Number number ? number.doubleValue() : Double.NaN;
  }
}
