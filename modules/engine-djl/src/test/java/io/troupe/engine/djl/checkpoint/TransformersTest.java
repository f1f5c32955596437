package io.troupe.engine.djl.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checkpoints that were trained and saved here, loaded by Hugging Face's transformers. */
final class TransformersTest {
  private static final Path SCRIPT = Path.of("src/test/python/log_probs.py");

  @TempDir private Path folder;

  private record Output(int code, List<String> lines) {}

  private static Output python(List<String> arguments) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("python3"));
    words.addAll(arguments);
    Process process =
        new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    process.getOutputStream().close();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Output(process.waitFor(), text.lines().toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {TinyCheckpoints.QWEN3, TinyCheckpoints.QWEN2, TinyCheckpoints.LLAMA3})
  void save_trainedCheckpoint_hasTheSameLogProbsInTransformers(String name) throws Exception {
    assumeThat(python(List.of("-c", "import torch, transformers")).code())
        .as("a python3 that has torch and transformers")
        .isZero();
    int[] prompt = {5, 9, 2};
    int[] completion = {7, 1, 11, 3, 8};
    List<TrainingSequence> batch =
        List.of(
            new TrainingSequence(
                prompt, completion, new float[5], new float[] {.2f, .2f, .2f, .2f, .2f}, 1));
    DjlPolicy policy =
        DjlPolicy.create(
            TinyCheckpoints.open(name).withContextLength(32), ComputeSettings.of(1, 1, 1 << 14));
    double[] ours;
    try (TrainingEngine trainer = policy.newTrainer(1)) {
      trainer.trainSupervised(batch, Fixtures.adam(1e-2));
      trainer.freezeReference();
      ours = trainer.referenceLogProbs(batch, 1).getFirst();
      trainer.save(folder);
    }

    List<String> arguments = new ArrayList<>(List.of(SCRIPT.toString(), folder.toString()));
    Arrays.stream(prompt).forEach(id -> arguments.add(Integer.toString(id)));
    Arrays.stream(completion).forEach(id -> arguments.add(Integer.toString(id)));
    Output theirs = python(arguments);

    assertThat(theirs.code()).isZero();
    List<String> lines = theirs.lines().subList(prompt.length - 1, theirs.lines().size());
    assertThat(lines).hasSize(completion.length);
    for (int t = 0; t < completion.length; t++) {
      assertThat(Double.parseDouble(lines.get(t))).isCloseTo(ours[t], within(1e-4));
    }
  }

  @Test
  void script_isWhereTheTestLooks() {
    assertThat(SCRIPT).exists();
  }
}
