package io.troupe.engine.djl.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class PretrainedModelTest {
  @TempDir private Path directory;

  static List<String> names() {
    return TinyCheckpoints.ALL;
  }

  private static WeightSnapshot weights(PretrainedModel checkpoint, long shardBytes, Path saved)
      throws IOException {
    ComputeSettings compute = ComputeSettings.of(1, 1, 1 << 14).withShardBytes(shardBytes);
    try (TrainingEngine trainer = DjlPolicy.create(checkpoint, compute).newTrainer(0)) {
      trainer.save(saved);
      return trainer.snapshot(WeightVersion.BASE);
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void save_andOpenAgain_hasEveryBitAndFile(String name) throws IOException {
    Path first = Files.createDirectory(directory.resolve("first"));
    Path second = Files.createDirectory(directory.resolve("second"));

    WeightSnapshot read = weights(TinyCheckpoints.open(name), 20_000, first);
    WeightSnapshot again = weights(PretrainedModel.open(first), 1 << 30, second);

    assertThat(again.digest()).isEqualTo(read.digest());
    assertThat(first.resolve("model.safetensors.index.json")).exists();
    assertThat(first.resolve("model.safetensors")).doesNotExist();
    assertThat(second.resolve("model.safetensors")).exists();
    for (String file :
        new String[] {"tokenizer.json", "tokenizer_config.json", "generation_config.json"}) {
      assertThat(second.resolve(file))
          .hasSameBinaryContentAs(TinyCheckpoints.directory(name).resolve(file));
    }
    assertThat(Files.readString(second.resolve("config.json")))
        .contains("\"torch_dtype\" : \"float32\"");
    assertThat(ModelConfig.read(second.resolve("config.json")).settings())
        .isEqualTo(TinyCheckpoints.open(name).settings());
  }

  @Test
  void restore_ofACheckpointsRun_goesOnBitForBit() throws IOException {
    DjlPolicy policy =
        DjlPolicy.create(
            TinyCheckpoints.open(TinyCheckpoints.QWEN2).withContextLength(32),
            ComputeSettings.of(1, 1, 1 << 14));
    try (TrainingEngine trainer = policy.newTrainer(0);
        TrainingEngine other = policy.newTrainer(0)) {
      String start = trainer.snapshot(WeightVersion.BASE).digest();
      var batch = Fixtures.groups(new Random(1), 2, 2);
      trainer.trainSupervised(batch, Fixtures.ADAM);
      trainer.save(directory);
      trainer.trainSupervised(batch, Fixtures.ADAM);

      other.restore(directory);
      assertThat(other.snapshot(WeightVersion.BASE).digest()).isNotEqualTo(start);
      other.trainSupervised(batch, Fixtures.ADAM);
      assertThat(other.snapshot(WeightVersion.BASE).digest())
          .isEqualTo(trainer.snapshot(WeightVersion.BASE).digest());
    }
  }

  @Test
  void withContextLength_longerThanTheCheckpoints_isRefused() {
    PretrainedModel checkpoint = TinyCheckpoints.open(TinyCheckpoints.QWEN3);

    assertThat(checkpoint.withContextLength(32).settings().contextLength()).isEqualTo(32);
    assertThatThrownBy(() -> checkpoint.withContextLength(65))
        .hasMessage("context_length (65) exceeds the checkpoint's max_position_embeddings (64)");
  }

  private void damaged(String name, String file, UnaryOperator<String> change) throws IOException {
    TinyCheckpoints.copy(name, directory);
    Path damaged = directory.resolve(file);
    String text = Files.readString(damaged, StandardCharsets.ISO_8859_1);
    String changed = change.apply(text);
    assertThat(changed).isNotEqualTo(text);
    Files.writeString(damaged, changed, StandardCharsets.ISO_8859_1);
  }

  private void refused(String file, String message) {
    assertThatThrownBy(() -> PretrainedModel.open(directory))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(directory.resolve(file).toString())
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "Qwen3ForCausalLM!MixtralForCausalLM!the architecture \"MixtralForCausalLM\" (model_type"
            + " 'qwen3') is none",
        "\"silu\"!\"gelu\"!hidden_act is \"gelu\"",
        "\"attention_bias\": false!\"attention_bias\": true!attention_bias is true",
        "\"attention_bias\": false!\"mlp_bias\": true!mlp_bias is true",
        "\"attention_bias\": false!\"partial_rotary_factor\": 0.5!partial_rotary_factor is 0.5",
        "\"attention_bias\": false!\"quantization_config\": {\"quant_method\": \"awq\"}!the weights"
            + " are quantized (\"awq\")",
        "\"attention_bias\": false!\"layer_types\": [\"sliding_attention\"]!layer_types has"
            + " \"sliding_attention\"",
        "\"use_sliding_window\": false!\"use_sliding_window\": true, \"max_window_layers\": 1,"
            + " \"sliding_window\": 8!use_sliding_window is true with a sliding_window of 8",
        "\"hidden_size\": 16!\"hidden_size\": \"x\"!hidden_size is a whole number, 1 or greater,"
            + " not \"x\"",
        "\"hidden_size\"!\"hidden\"!hidden_size is missing",
        "\"num_key_value_heads\": 2!\"num_key_value_heads\": 3!heads (4) is a multiple of kv_heads"
            + " (3)",
        "\"rope_scaling\": null!\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}!rope"
            + " scaling of the type 'dynamic' is not computed here",
        "\"rope_scaling\": null!\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 2}!rope"
            + " scaling of the type 'llama3' needs the number low_freq_factor, and it is missing"
      })
  void open_configurationOfSomethingElse_namesKeyAndValue(String from, String to, String message)
      throws IOException {
    damaged(TinyCheckpoints.QWEN3, "config.json", text -> text.replace(from, to));
    refused("config.json", message);
  }

  @Test
  void open_configurationMissingOrNoJson_saysSo() throws IOException {
    refused("config.json", "is missing; a checkpoint is a directory with config.json");
    Files.writeString(directory.resolve("config.json"), "{");
    refused("config.json", "is not JSON");
    Path nowhere = directory.resolve("nowhere");
    assertThatThrownBy(() -> PretrainedModel.open(nowhere))
        .hasMessage("the checkpoint %s is no directory", nowhere);
  }

  @Test
  void open_adapterWithoutItsModel_saysHowToMergeIt() throws IOException {
    Files.writeString(directory.resolve("adapter_config.json"), "{}");

    assertThatThrownBy(() -> PretrainedModel.open(directory))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(directory + " holds an adapter (adapter_config.json) and no model")
        .hasMessageContaining("merge_and_unload");
  }

  @Test
  void open_tensorMissing_isNamed() throws IOException {
    damaged(
        TinyCheckpoints.QWEN3,
        "model.safetensors",
        text -> text.replace("\"model.norm.weight\"", "\"model.nurm.weight\""));
    refused("model.safetensors", "lacks the tensor model.norm.weight, which config.json calls for");
  }

  @Test
  void open_tensorOfAnotherShape_isNamedWithBoth() throws IOException {
    damaged(
        TinyCheckpoints.QWEN3,
        "config.json",
        text -> text.replace("\"intermediate_size\": 24", "\"intermediate_size\": 25"));
    refused(
        "model.safetensors",
        "model.layers.0.mlp.gate_proj.weight has shape [24, 16], but config.json makes it [25,"
            + " 16]");
  }

  @Test
  void open_surplusTensor_isNamed() throws IOException {
    damaged(
        TinyCheckpoints.QWEN3,
        "config.json",
        text -> text.replace("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1"));
    refused(
        "model.safetensors",
        "holds 11 tensors that this architecture has not, the first of them"
            + " model.layers.1.input_layernorm.weight; correct config.json, or remove what");
  }

  @Test
  void open_truncatedFile_isRefused() throws IOException {
    TinyCheckpoints.copy(TinyCheckpoints.QWEN3, directory);
    Path file = directory.resolve("model.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 4));
    refused("model.safetensors", "the file is cut off or damaged");
  }

  @Test
  void open_indexThatLeadsElsewhere_isRefused() throws IOException {
    String shard = "model-00002-of-00003.safetensors";
    String index = "model.safetensors.index.json";
    damaged(TinyCheckpoints.LLAMA3, index, text -> text.replace(shard, "../" + shard));
    refused(index, "'../%s', which is no name of a .safetensors file beside it".formatted(shard));
  }

  @Test
  void open_shardMissing_isNamed() throws IOException {
    TinyCheckpoints.copy(TinyCheckpoints.LLAMA3, directory);
    Path shard = directory.resolve("model-00003-of-00003.safetensors");
    Files.delete(shard);
    refused(
        "model.safetensors.index.json", "places tensors in %s, which is missing".formatted(shard));
  }

  @Test
  void open_indexThatDisagreesWithItsShards_namesTheTensor() throws IOException {
    String index = "model.safetensors.index.json";
    damaged(
        TinyCheckpoints.LLAMA3,
        index,
        text ->
            text.replace(
                "\"model.embed_tokens.weight\": \"model-00001",
                "\"model.embed_tokens.weight\": \"model-00002"));
    refused(index, "holds the tensor model.embed_tokens.weight, and it does not");
  }

  @Test
  void open_noWeightsAtAll_saysWhichFilesAreRead() throws IOException {
    TinyCheckpoints.copy(TinyCheckpoints.QWEN3, directory);
    Files.delete(directory.resolve("model.safetensors"));
    assertThatThrownBy(() -> PretrainedModel.open(directory))
        .hasMessageStartingWith(directory + " holds neither model.safetensors nor");
  }
}
