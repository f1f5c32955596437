package io.troupe.engine.djl.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
  private static final Path OPENED = Path.of("src/test/python/opened.py");
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

  /** A checkpoint that transformers 5 saved opens alike after a save, in version 4 too. */
  @ParameterizedTest
  @ValueSource(strings = {"qwen3", "qwen2", "llama"})
  void save_whatTransformersSaved_opensAsBefore(String name) throws Exception {
    assumeThat(python(List.of("-c", "import torch, transformers")).code())
        .as("a python3 that has torch and transformers")
        .isZero();
    JsonNode reference =
        new ObjectMapper().readTree(TinyCheckpoints.saved(name).resolve("reference.json").toFile());
    DjlPolicy policy =
        DjlPolicy.create(
            PretrainedModel.open(TinyCheckpoints.saved(name)), ComputeSettings.of(1, 1, 1 << 14));
    try (TrainingEngine trainer = policy.newTrainer(1)) {
      trainer.save(folder);
    }
    List<String> arguments = new ArrayList<>(List.of(OPENED.toString(), folder.toString()));
    reference.path("ids").forEach(id -> arguments.add(id.asText()));
    Output opened = python(arguments);

    assertThat(opened.code()).isZero();
    assertThat(opened.lines().subList(0, 5))
        .containsExactly(
            "[1, 261, 223, 263, 2] ['<|endoftext|>', '<|im_end|>', '<|im_start|>'] <|im_end|>"
                + " <|endoftext|>",
            "default '<|im_start|>user\\nthe hat<|im_end|>\\n<|im_start|>assistant\\n'",
            "tool_use '[{\"name\": \"add\"}]<|im_start|>user\\nthe"
                + " hat<|im_end|>\\n<|im_start|>assistant\\n'",
            "{\"eos_token_id\": [2, 0], \"do_sample\": true, \"temperature\": 0.7}",
            "True");
    for (int t = 0; t < reference.path("log_probs").size(); t++) {
      assertThat(Double.parseDouble(opened.lines().get(5 + t)))
          .isCloseTo(reference.path("log_probs").path(t).asDouble(), within(1e-4));
    }
  }

  @Test
  void scripts_areWhereTheTestLooks() {
    assertThat(SCRIPT).exists();
    assertThat(OPENED).exists();
  }
}
