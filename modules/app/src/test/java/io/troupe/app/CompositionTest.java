package io.troupe.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.app.config.RunConfig;
import io.troupe.app.config.binding.ConfigurationFile;
import io.troupe.store.Checkpoints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The parts of a run whose policy starts from a checkpoint. */
final class CompositionTest {
  private static final Path TINY =
      Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/parity/qwen3-tied");

  @TempDir private Path folder;

  private RunConfig config(Path checkpoint, String more) {
    String text =
        """
        task: {name: arithmetic, min: 0, max: 9, held_out_share: 0.2}
        policy: {engine: pretrained, checkpoint: %s, context_length: 32}
        rollout: {completions_per_prompt: 4, max_tokens: 3}
        training: {steps: 2, groups_per_step: 4, learning_rate: 1e-4}
        """
            .formatted(checkpoint.toAbsolutePath());
    return ConfigurationFile.bind(
            RunConfig.class, folder.resolve("run.yaml"), text + more, List.of())
        .config();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(String.valueOf(file.getFileName())));
      }
    }
  }

  @Test
  void of_aRunWhoseFirstCheckpointIsGone_takesItsOwnNewest() throws IOException {
    RunConfig gone = config(folder.resolve("gone"), "");
    assertThatThrownBy(() -> Composition.of(gone, folder))
        .hasMessageContaining("gone is gone, and the run has no checkpoint of its own yet");
    Checkpoints.open(folder)
        .save(3, step -> copy(TINY, Files.createDirectory(step.resolve("policy"))));

    Composition resumed = Composition.of(gone, folder);

    assertThat(resumed.start())
        .isInstanceOfSatisfying(
            Composition.Start.Stored.class,
            stored ->
                assertThat(stored.checkpoint().directory())
                    .isEqualTo(folder.resolve("step3").resolve("policy")));
    assertThat(Composition.of(config(TINY, ""), folder).facts()).isEqualTo(resumed.facts());
  }

  @Test
  void of_teacher_isCheckedAgainstThePolicyBeforeAnythingStarts() throws IOException {
    String distilled = "distillation: {divergence: jsd, top_k: 4, teacher: %s}\n";
    RunConfig fit = config(TINY, distilled.formatted(TINY.toAbsolutePath()));
    RunConfig lost = config(TINY, distilled.formatted("nowhere"));

    assertThat(Composition.of(fit).teacher()).hasSize(1);
    assertThatThrownBy(() -> Composition.of(lost))
        .isInstanceOf(UnfitPolicyException.class)
        .hasMessageStartingWith("distillation.teacher: the teacher ")
        .hasMessageEndingWith("nowhere is no directory");
  }
}
