package io.troupe.engine.djl.checkpoint;

import static io.troupe.engine.djl.model.Fixtures.ADAM;
import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TrainerCheckpointTest {
  private static final LossSettings LOSS =
      Fixtures.loss(new Correction.TruncatedImportance(2), .1, KlEstimator.K3);

  @TempDir private Path directory;

  private static List<StepOutcome> steps(TrainingEngine trainer, long from, long to) {
    List<StepOutcome> outcomes = new ArrayList<>();
    for (long step = from; step < to; step++) {
      outcomes.add(
          Fixtures.untimed(trainer.train(Fixtures.groups(new Random(step), 2, 3), LOSS, ADAM)));
    }
    return outcomes;
  }

  @Test
  void restore_inTheMiddle_goesOnBitForBit() throws IOException {
    DjlPolicy policy = Fixtures.policy(TINY);
    List<StepOutcome> unbroken;
    String end;
    try (TrainingEngine trainer = policy.newTrainer(1)) {
      trainer.freezeReference();
      steps(trainer, 0, 4);
      trainer.save(directory);
      unbroken = steps(trainer, 4, 8);
      end = trainer.snapshot(WeightVersion.BASE).digest();
    }
    try (TrainingEngine trainer = policy.newTrainer(2)) {
      trainer.restore(directory);
      assertThat(steps(trainer, 4, 8)).isEqualTo(unbroken);
      assertThat(trainer.snapshot(WeightVersion.BASE).digest()).isEqualTo(end);
    }
  }

  @Test
  void restore_withoutReference_forgetsAnEarlierOne() throws IOException {
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(1)) {
      trainer.save(directory);
      assertThat(directory.resolve("trainer/reference.safetensors")).doesNotExist();
      trainer.freezeReference();
      trainer.restore(directory);
      assertThatThrownBy(() -> steps(trainer, 0, 1)).hasMessageContaining("freezeReference");
    }
  }

  /** Reads the file by the format's own description, with none of the code under test. */
  @Test
  void save_model_isSafetensorsWithHuggingFaceNames() throws IOException {
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(1)) {
      trainer.save(directory);
      ByteBuffer file =
          ByteBuffer.wrap(Files.readAllBytes(directory.resolve("model.safetensors")))
              .order(ByteOrder.LITTLE_ENDIAN);
      byte[] header = new byte[(int) file.getLong()];
      file.get(header);
      JsonNode json = new ObjectMapper().readTree(header);
      JsonNode embedding = json.get("model.embed_tokens.weight");
      assertThat(embedding.get("dtype").asText()).isEqualTo("F32");
      assertThat(embedding.get("shape")).hasToString("[14,8]");
      assertThat(json.has("model.layers.1.self_attn.q_norm.weight")).isTrue();
      assertThat(json.has("lm_head.weight")).isFalse();
      file.position(file.position() + embedding.get("data_offsets").get(0).asInt());
      double[] expected = Fixtures.of(Fixtures.weights(trainer), "model.embed_tokens.weight");
      for (double value : expected) {
        assertThat((double) file.getFloat()).isEqualTo(value);
      }
      JsonNode config =
          new ObjectMapper().readTree(Files.readAllBytes(directory.resolve("config.json")));
      assertThat(config.get("architectures")).hasToString("[\"Qwen3ForCausalLM\"]");
      assertThat(config.get("num_key_value_heads").asInt()).isEqualTo(2);
    }
  }

  @Test
  void save_directoryNotEmpty_isRefused() throws IOException {
    Files.createFile(directory.resolve("something"));
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(1)) {
      assertThatThrownBy(() -> trainer.save(directory))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("%s is not empty; a checkpoint needs an empty directory", directory);
    }
  }

  @Test
  void restore_anotherArchitecture_namesTheKeyAndBothValues() throws IOException {
    save(TINY);
    DecoderSettings deeper = new DecoderSettings(8, 3, 4, 2, 4, 12, 16, 10_000, 1e-6, true, .5);
    assertThatThrownBy(() -> restoreInto(deeper, TOKENIZER))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "%s: num_hidden_layers is 2, but this run's policy has 3",
            directory.resolve("config.json"));
  }

  @Test
  void restore_anotherAlphabet_isRefused() throws IOException {
    save(TINY);
    assertThatThrownBy(() -> restoreInto(TINY, new CharacterTokenizer("9876543210+=")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("troupe_tokenizer.json describes the tokenizer")
        .hasMessageContaining("9876543210+=");
  }

  @Test
  void restore_truncatedFile_isRefusedAndTheTrainerIsAsBefore() throws IOException {
    save(TINY);
    Path file = directory.resolve("trainer/optimizer.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 4));
    try (TrainingEngine trainer = Fixtures.policy(TINY).newTrainer(2)) {
      String before = trainer.snapshot(WeightVersion.BASE).digest();
      assertThatThrownBy(() -> trainer.restore(directory))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith(file + " is no safetensors file that can be read: ");
      assertThat(trainer.snapshot(WeightVersion.BASE).digest()).isEqualTo(before);
    }
  }

  @Test
  void restore_tensorMissing_isNamedWithItsFile() throws IOException {
    save(TINY);
    Path file = directory.resolve("model.safetensors");
    String text = Files.readString(file, StandardCharsets.ISO_8859_1);
    Files.writeString(
        file,
        text.replace("\"model.norm.weight\"", "\"model.nurm.weight\""),
        StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> restoreInto(TINY, TOKENIZER))
        .isInstanceOf(IOException.class)
        .hasMessage("%s lacks the tensor model.norm.weight, which this run's policy has", file);
  }

  private void save(DecoderSettings settings) throws IOException {
    try (TrainingEngine trainer = Fixtures.policy(settings).newTrainer(1)) {
      trainer.save(directory);
    }
  }

  private void restoreInto(DecoderSettings settings, CharacterTokenizer tokenizer)
      throws IOException {
    DjlPolicy policy = DjlPolicy.create(settings, tokenizer, ComputeSettings.of(1, 1, 1 << 14));
    try (TrainingEngine trainer = policy.newTrainer(2)) {
      trainer.restore(directory);
    }
  }
}
