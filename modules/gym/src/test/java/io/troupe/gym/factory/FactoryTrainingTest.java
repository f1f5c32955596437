package io.troupe.gym.factory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A shell script takes the place of {@code llamafactory-cli}. */
class FactoryTrainingTest {
  private static final String READS_OUTPUT =
      "out=$(sed -n \"s/^output_dir: '\\(.*\\)'/\\1/p\" \"$2\")\n";

  @TempDir private Path root;
  private final List<String> said = new ArrayList<>();

  private FactoryTraining.Trained train(String script) throws Exception {
    Path program = root.resolve("llamafactory-cli");
    Files.writeString(program, "#!/bin/sh\n" + READS_OUTPUT + script);
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return new FactoryTraining(
            program.toString(), new FactorySettings("m", "t", 1, Map.of()), said::add)
        .run(root.resolve("data"), "d", root.resolve("work"));
  }

  @Test
  void run_aTrainingThatLeavesAModel_followsItAndReturnsItsFolder() throws Exception {
    FactoryTraining.Trained trained =
        train(
            """
            test "$1" = train || exit 3
            echo "{'loss': 0.5, 'epoch': 1.0}"
            mkdir "$out"; echo w > "$out/adapter_model.safetensors"
            echo '{"train_loss": 0.25}' > "$out/train_results.json"
            """);

    assertThat(trained.loss()).isEqualTo(0.25);
    assertThat(trained.output().resolve("adapter_model.safetensors")).exists();
    assertThat(said).containsExactly("{'loss': 0.5, 'epoch': 1.0}");
    assertThat(root.resolve("work/llama_factory_config.yaml")).isNotEmptyFile();
    assertThatThrownBy(() -> train("exit 0")).hasMessageContaining("would resume what is in it");
  }

  @Test
  void run_exitCodeZeroAndNothingLeft_isAFailure() {
    assertThatThrownBy(() -> train("echo usage"))
        .isInstanceOf(FactoryTraining.FailedException.class)
        .hasMessageContaining("left no")
        .hasMessageContaining("usage");
  }

  @Test
  void run_anExitCode_isAFailureWithTheLastLines() {
    assertThatThrownBy(() -> train("echo 'CUDA out of memory' >&2; exit 1"))
        .hasMessageContaining("exit code 1")
        .hasMessageContaining("CUDA out of memory");
  }

  @Test
  void run_aLossThatIsNotFinite_isAFailure() {
    assertThatThrownBy(
            () ->
                train("mkdir \"$out\"; echo '{\"train_loss\": NaN}' > \"$out/train_results.json\""))
        .hasMessageContaining("train_loss is");
  }

  @Test
  void run_withoutWeights_isAFailure() {
    assertThatThrownBy(
            () -> train("mkdir \"$out\"; echo '{\"train_loss\": 1}' > \"$out/train_results.json\""))
        .hasMessageContaining("left no weights");
  }

  @Test
  void run_withoutTheProgram_saysHowToNameIt() {
    FactoryTraining training =
        new FactoryTraining(
            root.resolve("absent").toString(),
            new FactorySettings("m", "t", 1, Map.of()),
            said::add);

    assertThatThrownBy(() -> training.run(root.resolve("data"), "d", root.resolve("work")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("TROUPE_LLAMAFACTORY");
  }
}
