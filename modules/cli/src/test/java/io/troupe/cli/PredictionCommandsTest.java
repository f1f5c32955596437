package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.console.source.RunPrediction;
import io.troupe.run.compose.TestRuns;
import io.troupe.run.console.FolderRun;
import io.troupe.run.simulation.ModelFile;
import io.troupe.run.simulation.RunFit;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.TrainModel;
import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run's model from the command line: fitted, simulated, asked and held against the run. */
final class PredictionCommandsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;

  private RunFolder trained(int steps) throws IOException {
    CommandOutput.ofTraining(
        folder,
        TestRuns.TOY,
        "--set",
        "training.steps=" + steps,
        "--set",
        "training.filter_degenerate=false");
    return TestRuns.only(folder);
  }

  private static CommandOutput done(String... arguments) {
    return CommandOutput.ending(0, arguments);
  }

  private static String refused(String... arguments) {
    return CommandOutput.ending(2, arguments).err();
  }

  @Test
  void fit_toyRun_makesAModelThatSimulatesAndThatTheConsoleTakes() throws Exception {
    RunFolder run = trained(24);
    Path model = folder.resolve("fitted.json");

    CommandOutput fit = done("fit", run.path().toString(), "-o", model.toString());
    assertThat(fit.out())
        .contains("model           measured: " + run.name())
        .contains("shared by trainer, workers and ");
    JsonNode control = JSON.readTree(model.toFile()).path("control");
    assertThat(control.path("cores").asInt()).isEqualTo(Runtime.getRuntime().availableProcessors());
    assertThat(control.path("background_threads").asDouble())
        .isBetween(0.0, control.path("cores").asDouble());

    CommandOutput simulated =
        done(
            "simulate",
            run.resolved().toString(),
            "--model",
            model.toString(),
            "--seeds",
            "1",
            "--json");
    assertThat(simulated.json().path("audit_sound").asBoolean()).isTrue();
    int crowd = 40 * Runtime.getRuntime().availableProcessors();
    CommandOutput asked =
        done("whatif", run.path().toString(), "--seeds", "1", "--set", "rollout.workers=" + crowd);
    assertThat(asked.out())
        .contains("changed         rollout.workers=" + crowd)
        .contains("threads compute at once on ");

    assertThat(prediction(run, slow(run, folder.resolve("slow.json"))).alarms().getFirst())
        .startsWith("steps/s: ");
    assertThat(refused("console", run.path().toString(), "--model", "absent.json"))
        .contains("there is no model file absent.json");
  }

  /** A model of another machine: steps of half a minute. */
  private static Path slow(RunFolder run, Path file) throws Exception {
    LatencyModel fitted = RunFit.of(run).model();
    ModelFile.write(
        file,
        new LatencyModel(
            fitted.origin(),
            fitted.workload(),
            fitted.engine(),
            fitted.verification(),
            new TrainModel(30, 0, 0, 0, 0),
            fitted.publication(),
            fitted.failures(),
            fitted.control()));
    return file;
  }

  private static RunPrediction.Comparison prediction(RunFolder run, Path model) throws Exception {
    try (FolderRun source = FolderRun.open(run, model)) {
      Await.until("a prediction", () -> source.prediction().compare(false).state().equals("ready"));
      return source.prediction().compare(false);
    }
  }

  @Test
  void fit_ofWhatSaysTooLittle_isRefusedWithTheRule() throws Exception {
    RunFolder run = trained(2);
    String path = run.path().toString();
    String model = folder.resolve("m.json").toString();

    assertThat(refused("fit", path, "-o", model))
        .contains("2 steps, and a fit needs 30 and 5; let the run make more");
    assertThat(Path.of(model)).doesNotExist();
    assertThat(refused("whatif", path, "--set", "rollout.workers=2")).contains("a fit needs");
    assertThat(refused("simulate", run.resolved().toString()))
        .contains("has a model: name one with --model");
    assertThat(prediction(run)).contains("a fit needs");
  }

  private static String prediction(RunFolder run) throws Exception {
    try (FolderRun source = FolderRun.open(run)) {
      source.prediction().compare(true);
      Await.until("no fit", () -> source.prediction().compare(false).state().equals("refused"));
      return source.prediction().compare(false).sentence();
    }
  }
}
