package io.troupe.gym.student;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.PeftFolder;
import io.troupe.engine.weights.Adapter;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.gym.factory.FactoryRecipe;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.TrainingRow;
import io.troupe.run.compose.ShapedCheckpoints;
import io.troupe.serve.model.ServedWeights;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A shell script takes the place of {@code llamafactory-cli}. */
class LlamaFactoryTrainingTest {
  private static final String MATRIX = "model.layers.0.self_attn.q_proj";
  private static final String OTHER = "model.layers.0.self_attn.k_proj";

  private static final String BEGIN =
      """
      #!/bin/sh
      out=$(sed -n "s/^output_dir: '\\(.*\\)'/\\1/p" "$2")
      mkdir "$out" || exit 9
      """;

  private static final String END =
      """
      echo '{"global_step": 12}' > "$out/trainer_state.json"
      echo '{"train_loss": 0.25}' > "$out/train_results.json"
      """;

  @TempDir private Path root;
  private Path base;

  @BeforeEach
  void makeBase() throws IOException {
    base = Files.createDirectory(root.resolve("base"));
    ShapedCheckpoints.tiny(base);
    Files.writeString(base.resolve(Students.MANIFEST), "{}");
  }

  private LlamaFactoryTraining training(String script) throws IOException {
    Path program = Files.writeString(root.resolve("llamafactory-cli"), BEGIN + script);
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    Path recipe = Files.writeString(root.resolve("recipe.yaml"), "template: empty\n");
    return new LlamaFactoryTraining(program.toString(), FactoryRecipe.read(recipe), 0, _ -> {});
  }

  /** A training that leaves the files of a folder. */
  private LlamaFactoryTraining leaving(Path folder) throws IOException {
    return training("cp %s/* \"$out\"\n".formatted(folder) + END);
  }

  private Students.Outcome train(LlamaFactoryTraining training) throws IOException {
    TrainingRow row = new TrainingRow("r1", new GymItem("r1", "sums", "", "1+1=", "2"), "2");
    return training.train(base, List.of(row), 7, root.resolve("training"), root.resolve("student"));
  }

  /** An adapter that adds {@code value} to each number of a matrix of so many rows. */
  private Path adapter(float value, long rows, long columns) throws IOException {
    Path folder = Files.createDirectory(root.resolve("adapter"));
    PeftFolder.write(
        folder,
        new Adapter(
            1,
            1,
            List.of("q_proj"),
            List.of(
                filled("lora_A", List.of(1L, columns), 1),
                filled("lora_B", List.of(rows, 1L), value))));
    return folder;
  }

  private static WeightSnapshot.Tensor filled(String part, List<Long> shape, float value) {
    float[] numbers = new float[Math.toIntExact(shape.getFirst() * shape.getLast())];
    Arrays.fill(numbers, value);
    return new WeightSnapshot.Tensor(
        "base_model.model.%s.%s.weight".formatted(MATRIX, part),
        shape,
        Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, numbers));
  }

  private static WeightSnapshot.Tensor tensor(Path folder, String name) throws IOException {
    return ServedWeights.read(folder, WeightVersion.BASE).tensors().stream()
        .filter(each -> each.name().equals(name + ".weight"))
        .findFirst()
        .orElseThrow();
  }

  private static float[] numbers(Path folder, String name) throws IOException {
    return tensor(folder, name).data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
  }

  private static Map<String, DType> types(Path folder) throws IOException {
    Map<String, DType> types = new TreeMap<>();
    try (Arena arena = Arena.ofConfined()) {
      ModelFiles.map(folder, arena).tensors().forEach((name, t) -> types.put(name, t.dtype()));
    }
    return types;
  }

  @Test
  void train_anAdapter_isMergedIntoTheWeightsItWasTrainedOn() throws IOException {
    List<Long> shape = tensor(base, MATRIX).shape();
    Path adapter = adapter(0.5F, shape.getFirst(), shape.getLast());

    assertThat(train(leaving(adapter))).isEqualTo(new Students.Outcome.Fitted(12, 0.25));

    Path student = root.resolve("student");
    float[] expected = numbers(base, MATRIX);
    for (int i = 0; i < expected.length; i++) {
      expected[i] += 0.5F;
    }
    assertThat(numbers(student, MATRIX)).isEqualTo(expected);
    assertThat(numbers(student, OTHER)).isEqualTo(numbers(base, OTHER));
    assertThat(types(student)).isEqualTo(types(base));
    assertThat(student.resolve(Students.MANIFEST)).doesNotExist();
    assertThat(student.resolve("config.json")).hasSameBinaryContentAs(base.resolve("config.json"));
    assertThat(root.resolve("training/llama_factory_config.yaml"))
        .content()
        .contains("model_name_or_path: '%s'".formatted(base), "seed: 7\n");
    assertThat(root.resolve("training/data/custom_sft_dataset.jsonl"))
        .hasContent("{\"instruction\": \"1+1=\", \"output\": \"2\"}");
  }

  @Test
  void train_wholeWeights_areTheStudentAlsoWhereATrainingWasCutOffBefore() throws IOException {
    Files.createDirectories(root.resolve("training/output/checkpoint-500"));

    assertThat(train(leaving(base))).isEqualTo(new Students.Outcome.Fitted(12, 0.25));

    assertThat(root.resolve("student/model.safetensors"))
        .hasSameBinaryContentAs(base.resolve("model.safetensors"));
    assertThat(root.resolve("training/output/checkpoint-500")).doesNotExist();
  }

  @Test
  void train_aLossThatIsNotFinite_isNoFailureOfTheProgram() throws IOException {
    assertThat(train(training("echo '{\"train_loss\": NaN}' > \"$out/train_results.json\"")))
        .isInstanceOfSatisfying(
            Students.Outcome.NotFinite.class,
            diverged -> assertThat(diverged.reason()).contains("lower learning_rate"));

    assertThatThrownBy(() -> train(training("echo 'CUDA out of memory'; exit 1")))
        .isInstanceOf(Students.FailedTrainingException.class)
        .hasMessageContaining("CUDA out of memory")
        .hasMessageContaining("--resume trains again");
    assertThat(root.resolve("student")).doesNotExist();
  }

  @Test
  void train_anAdapterOfAnotherModel_failsWithTheNameOfTheMatrix() throws IOException {
    Path adapter = adapter(0.5F, 3, 5);

    assertThatThrownBy(() -> train(leaving(adapter)))
        .isInstanceOf(Students.FailedTrainingException.class)
        .hasMessageContaining("does not fit the student")
        .hasMessageContaining(MATRIX);
  }

  @Test
  void stop_whileItTrains_endsTheProcess() throws Exception {
    LlamaFactoryTraining training = training("echo loss; exec sleep 1000");
    CompletableFuture<Students.Outcome> outcome =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return train(training);
              } catch (IOException failure) {
                throw new CompletionException(failure);
              }
            },
            task -> Thread.ofPlatform().start(task));
    Path log = root.resolve("training/llama_factory.log");
    Await.until("it trains", () -> Files.exists(log) && log.toFile().length() > 0);

    training.stop();

    assertThatThrownBy(outcome::join).hasCauseInstanceOf(Students.StoppedTrainingException.class);
  }
}
