package io.troupe.config.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.supervised.SupervisedConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names of other programs lead to keys that exist. */
final class OtherNamesTest {
  @Test
  void keys_ofEveryName_exist() {
    Set<String> known = new TreeSet<>(Suggestions.paths(Schema.of(RunConfig.class)));
    known.addAll(Suggestions.paths(Schema.of(SupervisedConfig.class)));

    OtherNames.all()
        .forEach((name, keys) -> assertThat(known).as("keys of %s", name).containsAll(keys));
  }

  @ParameterizedTest
  @CsvSource({
    "training.lr=1e-6, training.learning_rate",
    "training.num_generations=8, rollout.completions_per_prompt",
    "rollout.n=8, rollout.completions_per_prompt",
    "loss.beta=0.01, loss.kl_coefficient",
    "loss.epsilon_high=0.28, loss.clip_high",
    "rollout.max_response_length=512, rollout.max_tokens",
    "report_to=wandb, tracking",
  })
  void bind_nameOfAnotherProgram_saysTheKey(String override, String key) {
    assertThatThrownBy(
            () ->
                ConfigurationFile.bind(
                    RunConfig.class,
                    Path.of("run.yaml"),
                    "task: {name: arithmetic}",
                    List.of(override)))
        .hasMessageContaining("it is %s here".formatted(key));
  }
}
