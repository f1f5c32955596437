package io.troupe.config.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.config.RunConfig;
import io.troupe.config.TaskFacts;
import io.troupe.config.binding.ConfigurationFile;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The plan notes rates at which a pretrained policy is seldom trained, and no others. */
final class LearningRateNoteTest {
  private static final TaskFacts FACTS = new TaskFacts(8000, 0, 2000, 6, 15);

  private static List<String> notes(String engine, int rank, double rate, int warmup) {
    String policy =
        switch (engine) {
          case "pretrained" ->
              "{engine: pretrained, checkpoint: nowhere, context_length: 64, lora: {rank: %d}}"
                  .formatted(rank);
          default -> "{engine: %s}".formatted(engine);
        };
    String yaml =
        """
        task: {name: arithmetic}
        policy: %s
        warmup: {steps: %d, learning_rate: %s}
        rollout: {max_tokens: 5}
        training: {steps: 200, groups_per_step: 32, learning_rate: %s}
        """
            .formatted(policy, warmup, rate, rate);
    return Plan.of(
            ConfigurationFile.bind(RunConfig.class, Path.of("run.yaml"), yaml, List.of()), FACTS)
        .notes()
        .stream()
        .filter(note -> note.contains("usual rates"))
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "pretrained, 0, 1e-2, very high for all weights",
    "pretrained, 0, 5e-4, very high for all weights",
    "pretrained, 0, 1e-12, very low for all weights",
    "pretrained, 8, 1e-2, very high for adapters",
    "pretrained, 8, 1e-9, very low for adapters",
  })
  void notes_unusualRateOfAPretrainedPolicy_nameTheKeyAndUsualRates(
      String engine, int rank, double rate, String said) {
    assertThat(notes(engine, rank, rate, 0))
        .singleElement()
        .asString()
        .startsWith("training.learning_rate (")
        .contains(said, "usual rates are from ");
  }

  @ParameterizedTest
  @CsvSource({
    "pretrained, 0, 1e-6",
    "pretrained, 0, 1e-5",
    "pretrained, 8, 1e-5",
    "pretrained, 8, 2e-4",
    "pretrained, 8, 1e-3",
    "djl, 0, 1e-2",
    "toy, 0, 1e-2",
  })
  void notes_usualRateOrRandomWeights_sayNothing(String engine, int rank, double rate) {
    assertThat(notes(engine, rank, rate, 10)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0, 5e-2, 2", "0, 5e-4, 1", "8, 5e-2, 2", "8, 5e-3, 1"})
  void notes_warmup_hasUsualRatesOfItsOwn(int rank, double rate, int count) {
    assertThat(notes("pretrained", rank, rate, 10)).hasSize(count);
  }
}
