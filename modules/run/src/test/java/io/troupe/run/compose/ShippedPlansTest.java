package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.plan.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every run in conf/ plans with its data, as {@code troupe plan} does. */
final class ShippedPlansTest {
  static Stream<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("../../conf"))) {
      return files
          .filter(file -> file.toString().endsWith(".yaml"))
          .filter(file -> !String.valueOf(file.getFileName()).startsWith("eval-"))
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void plan_shippedFileWithItsTask_isNotRefused(Path file) throws IOException {
    ResolvedConfig<RunConfig> resolved = RunConfig.load(file, List.of());

    Plan plan = Plan.of(resolved, Composition.of(resolved.config()).facts());

    assertThat(plan.text()).startsWith("plan of " + file);
    assertThat(plan.capacities().evaluatedPrompts()).isPositive();
  }
}
