package io.troupe.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.config.supervised.SupervisedConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every file in conf/ is a valid run, for {@code eval-*.yaml} a valid evaluation, and for {@code
 * sft-*.yaml} a valid supervised run; module gym checks {@code gym-*.yaml}.
 */
final class ShippedConfigurationsTest {
  private static final Path FOLDER = Path.of("../../conf");

  static Stream<Path> files() throws IOException {
    return yaml(name -> !name.matches("(eval|sft|gym|ec2|sagemaker)-.*"));
  }

  static Stream<Path> evaluations() throws IOException {
    return yaml(name -> name.startsWith("eval-"));
  }

  static Stream<Path> supervised() throws IOException {
    return yaml(name -> name.startsWith("sft-"));
  }

  private static Stream<Path> yaml(Predicate<String> chosen) throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files
          .filter(file -> file.toString().endsWith(".yaml"))
          .filter(file -> chosen.test(String.valueOf(file.getFileName())))
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("evaluations")
  void load_shippedEvaluation_hasNoViolation(Path file) {
    assertThat(EvaluationFile.load(file, List.of()).config().tasks()).isNotEmpty();
  }

  @ParameterizedTest
  @MethodSource("supervised")
  void load_shippedSupervisedRun_hasNoViolation(Path file) {
    assertThat(SupervisedConfig.load(file, List.of()).config().datasets()).isNotEmpty();
  }

  @Test
  void files_ofTheFolder_holdTheThreeFirstRuns() throws IOException {
    assertThat(files().map(file -> file.getFileName().toString()))
        .contains("quickstart.yaml", "gsm8k-smoke.yaml", "toy.yaml");
  }

  @ParameterizedTest
  @MethodSource("files")
  void load_shippedFile_hasNoViolation(Path file) {
    RunConfig config = RunConfig.load(file, List.of()).config();

    assertThat(config.training().steps()).isPositive();
    assertThat(config.lossSettings().clip().active()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("files")
  void yaml_loadedFromAnotherFolder_givesTheSameRecords(Path file) {
    ResolvedConfig<RunConfig> resolved = RunConfig.load(file, List.of("run.seed=7"));

    ResolvedConfig<RunConfig> again =
        ConfigurationFile.bind(
            RunConfig.class, Path.of("elsewhere/resolved.yaml"), resolved.yaml(), List.of());

    assertThat(again.config()).isEqualTo(resolved.config());
    assertThat(again.config().run().seed()).isEqualTo(7);
  }
}
