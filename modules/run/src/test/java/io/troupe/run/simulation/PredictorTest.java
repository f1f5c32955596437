package io.troupe.run.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.report.Prediction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Predictions of shipped configurations. */
class PredictorTest {
  private static final Path CONF = Path.of("../../conf");
  private static final Path TOY = CONF.resolve("toy.yaml");

  private static LatencyModel model() throws IOException, UnmodelledRunException {
    return ModelFile.read(CONF.resolve("1024-gpu.model.json"));
  }

  private static Predictor predictor(double hours) {
    return new Predictor(2, 1, hours, List.of());
  }

  @Test
  void predict_1024Gpus_keepsPromisesAndSaysWhatBinds() throws Exception {
    Prediction prediction =
        predictor(0.05).predict(CONF.resolve("1024-gpu.yaml"), List.of(), model());

    assertThat(prediction.sound()).isTrue();
    assertThat(prediction.scenario().shape().workers()).isEqualTo(768);
    assertThat(prediction.scenario().shape().trainerRanks()).isEqualTo(255);
    assertThat(prediction.lines().getFirst()).startsWith("model           cited: H200");
  }

  /** Seconds a step that verl published; docs/performance.md says what is assumed. */
  @ParameterizedTest
  @CsvSource({"64, 0, 231, 0.03", "64, 1, 151, 0.25", "32, 1, 189, 0.15", "16, 1, 295, 0.1"})
  void predict_publishedRows_areAsFarOffAsThePageSays(
      int gpus, int staleness, double seconds, double error) throws Exception {
    Prediction prediction =
        new Predictor(3, 1, 100, List.of())
            .predict(
                CONF.resolve("1024-gpu.yaml"),
                List.of(
                    "placement.coordinator_gpu=false",
                    "policy.context_length=30000",
                    "policy.micro_batch_tokens=30000",
                    "rollout.max_concurrent_groups=512",
                    "training.groups_per_step=512",
                    "rollout.max_tokens=28672",
                    "training.steps=30",
                    "placement.nodes=" + gpus / 4,
                    "placement.rollout_workers=" + gpus,
                    "placement.trainer_ranks=" + gpus,
                    "rollout.groups_per_request=" + 512 / gpus,
                    "training.max_staleness=" + staleness),
                ModelFile.read(CONF.resolve("verl-7b-h20.model.json")));

    assertThat(prediction.sound()).isTrue();
    assertThat(1 / prediction.stepsPerSecond().mean()).isCloseTo(seconds, within(error * seconds));
  }

  @Test
  void modelFile_writtenAndRead_isTheSame(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("copy.json");

    ModelFile.write(file, model());

    assertThat(ModelFile.read(file)).isEqualTo(model());
  }

  @Test
  void modelFile_unknownKeyOrOtherFormat_isRefusedByName(@TempDir Path folder) throws Exception {
    String text = Files.readString(CONF.resolve("1024-gpu.model.json"));
    Path unknown =
        Files.writeString(
            folder.resolve("u.json"), text.replace("\"fan_out\": 2", "\"fan_out\": 2, \"fan\": 3"));
    Path old =
        Files.writeString(folder.resolve("o.json"), text.replace("\"format\": 1", "\"format\": 7"));

    assertThatThrownBy(() -> ModelFile.read(unknown))
        .isInstanceOf(UnmodelledRunException.class)
        .hasMessageContaining("publication.fan is no key of a model");
    assertThatThrownBy(() -> ModelFile.read(old)).hasMessageContaining("model of format 7");
    Path negative =
        Files.writeString(folder.resolve("n.json"), text.replace("\"cores\": 0", "\"cores\": -1"));
    assertThatThrownBy(() -> ModelFile.read(negative))
        .hasMessageContaining("n.json is no model: control: control.cores and ");
    Path without =
        Files.writeString(
            folder.resolve("w.json"), text.replace(", \"background_threads\": 0", ""));
    assertThatThrownBy(() -> ModelFile.read(without))
        .hasMessageContaining(
            "w.json is no model: control.background_threads is missing; fit it again");
    assertThatThrownBy(() -> ModelFile.read(folder.resolve("absent.json")))
        .hasMessageContaining("troupe fit RUN");
  }

  @Test
  void predict_stageWithoutModel_isRefusedWithTheReason() {
    assertThatThrownBy(
            () ->
                predictor(1)
                    .predict(
                        CONF.resolve("quickstart.yaml"), List.of("policy.kv_tokens=4096"), model()))
        .isInstanceOf(UnmodelledRunException.class)
        .hasMessageStartingWith("policy.kv_tokens has no model");
    assertThatThrownBy(
            () -> predictor(1).predict(CONF.resolve("tools-arithmetic.yaml"), List.of(), model()))
        .isInstanceOf(UnmodelledRunException.class)
        .hasMessageStartingWith("episode.environment and episode.agent have no model");
  }

  @Test
  void sweep_stalenessOfTheToy_printsEachPointAndTheBest() throws Exception {
    Predictor.Swept swept =
        predictor(1)
            .sweep(
                TOY,
                List.of("training.steps=20"),
                List.of("training.max_staleness=0,1", "rollout.groups_per_request=8,800"),
                model());

    assertThat(swept.sweep().points()).hasSize(2);
    assertThat(swept.refused()).hasSize(2); // more than rollout.max_concurrent_groups
    assertThat(swept.sweep().best().values()).containsExactly("1", "8");
    assertThat(swept.sweep().svg()).startsWith("<svg").contains("max_staleness=0");
    assertThat(swept.sweep().points().getFirst().prediction().staleness().mean())
        .isCloseTo(0, within(1e-9));
  }
}
