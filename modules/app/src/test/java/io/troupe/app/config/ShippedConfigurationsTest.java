package io.troupe.app.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.app.config.binding.ConfigurationFile;
import io.troupe.app.config.binding.Resolved;
import io.troupe.tasks.ArithmeticTask;
import io.troupe.tasks.Gsm8kTask;
import io.troupe.tasks.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every file in conf/ is a valid run. */
final class ShippedConfigurationsTest {
  private static final Path FOLDER = Path.of("../../conf");

  static Stream<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.filter(file -> file.toString().endsWith(".yaml")).sorted().toList().stream();
    }
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
    assertThat(config.lossSettings().clips()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("files")
  void plan_shippedFileWithItsTask_isNotRefused(Path file) throws IOException {
    Resolved<RunConfig> resolved = RunConfig.load(file, List.of());
    Task task =
        switch (resolved.config().task()) {
          case TaskSection.Arithmetic arithmetic -> new ArithmeticTask(arithmetic.settings(1));
          case TaskSection.Gsm8k gsm8k -> Gsm8kTask.load(gsm8k.settings(1));
        };

    Plan plan = Plan.of(resolved, facts(task));

    assertThat(plan.text()).startsWith("plan of " + file);
    assertThat(plan.capacities().evaluatedPrompts()).isPositive();
  }

  /** As with a tokenizer of characters. */
  private static TaskFacts facts(Task task) {
    int longest =
        Stream.concat(task.train().stream(), task.heldOut().stream())
            .mapToInt(prompt -> prompt.text().codePointCount(0, prompt.text().length()))
            .max()
            .orElseThrow();
    return new TaskFacts(
        task.train().size(), task.heldOut().size(), longest, task.alphabet().length() + 2);
  }

  @ParameterizedTest
  @MethodSource("files")
  void yaml_loadedFromAnotherFolder_givesTheSameRecords(Path file) {
    Resolved<RunConfig> resolved = RunConfig.load(file, List.of("run.seed=7"));

    Resolved<RunConfig> again =
        ConfigurationFile.bind(
            RunConfig.class, Path.of("elsewhere/resolved.yaml"), resolved.yaml(), List.of());

    assertThat(again.config()).isEqualTo(resolved.config());
    assertThat(again.config().run().seed()).isEqualTo(7);
  }
}
