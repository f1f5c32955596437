package io.troupe.engine.djl.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checkpoints as transformers saves them ({@code src/test/python/saved_checkpoints.py}): computed
 * as there, and saved again in words that its versions 4 and 5 understand alike.
 */
final class SavedCheckpointsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;

  private static JsonNode json(Path file) throws IOException {
    return JSON.readTree(Files.readAllBytes(file));
  }

  private static int[] ids(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
  }

  private static double[] logProbs(Path checkpoint, int[] ids) throws IOException {
    int[] prompt = {ids[0]};
    int[] said = Arrays.copyOfRange(ids, 1, ids.length);
    float[] weights = new float[said.length];
    Arrays.fill(weights, 1f / said.length);
    List<TrainingSequence> batch =
        List.of(new TrainingSequence(prompt, said, new float[said.length], weights, 1));
    DjlPolicy policy =
        DjlPolicy.create(PretrainedModel.open(checkpoint), ComputeSettings.of(1, 1, 1 << 14));
    try (TrainingEngine trainer = policy.newTrainer(1)) {
      trainer.freezeReference();
      return trainer.referenceLogProbs(batch, 1).getFirst();
    }
  }

  private static void save(Path checkpoint, Path target) throws IOException {
    DjlPolicy policy =
        DjlPolicy.create(PretrainedModel.open(checkpoint), ComputeSettings.of(1, 1, 1 << 14));
    try (TrainingEngine trainer = policy.newTrainer(1)) {
      trainer.save(target);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"qwen3", "qwen2", "llama"})
  void open_asTransformersSavedIt_hasItsLogProbsBeforeAndAfterASave(String name)
      throws IOException {
    Path saved = TinyCheckpoints.saved(name);
    JsonNode reference = json(saved.resolve("reference.json"));
    int[] ids = ids(reference.path("ids"));
    double[] before = logProbs(saved, ids);
    for (int t = 0; t < before.length; t++) {
      assertThat(before[t]).isCloseTo(reference.path("log_probs").path(t).asDouble(), within(1e-4));
    }
    save(saved, folder);
    assertThat(logProbs(folder, ids)).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"qwen3", "qwen2", "llama"})
  void save_ofWhatTransformers5Saved_hasTheWordsOfBothVersionsAndEveryFile(String name)
      throws IOException {
    Path saved = TinyCheckpoints.saved(name);
    save(saved, folder);

    JsonNode config = json(folder.resolve("config.json"));
    assertThat(config.path("dtype").asText()).isEqualTo("float32");
    assertThat(config.path("torch_dtype").asText()).isEqualTo("float32");
    assertThat(config.path("rope_theta")).isEqualTo(config.at("/rope_parameters/rope_theta"));
    JsonNode words = json(folder.resolve("tokenizer_config.json"));
    assertThat(words.path("tokenizer_class").asText()).isEqualTo("PreTrainedTokenizerFast");
    assertThat(words.has("extra_special_tokens")).isFalse();
    assertThat(words.path("additional_special_tokens")).hasToString("[\"<|im_start|>\"]");
    for (String file :
        List.of(
            "tokenizer.json",
            "generation_config.json",
            "chat_template.jinja",
            "additional_chat_templates/tool_use.jinja")) {
      assertThat(folder.resolve(file)).hasSameBinaryContentAs(saved.resolve(file));
    }
    try (var files = Files.list(folder)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(file -> file.endsWith(".safetensors"))
          .containsExactly("model.safetensors");
    }
  }

  /** Transformers 4 knows the original context within the scaling alone. */
  @Test
  void save_originalContextOutsideOfTheScaling_isWithinItToo() throws IOException {
    save(TinyCheckpoints.saved("llama"), folder);
    JsonNode config = json(folder.resolve("config.json"));
    assertThat(config.at("/rope_scaling/original_max_position_embeddings").asInt()).isEqualTo(8);
    assertThat(config.at("/rope_scaling/rope_type").asText()).isEqualTo("yarn");
    assertThat(config.at("/rope_scaling").has("rope_theta")).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "llama!{\"original_max_position_embeddings\": 16, \"rope_scaling\": {\"rope_type\":"
            + " \"yarn\", \"factor\": 2, \"original_max_position_embeddings\":"
            + " 8}}!original_max_position_embeddings is 16, and within rope_scaling it is 8",
        "qwen2!{\"rope_theta\": 10000}!rope_theta is 10000, and within rope_parameters it is"
            + " 500000.0",
        "qwen2!{\"rope_parameters\": {\"rope_type\": \"default\", \"partial_rotary_factor\": 0.5}}"
            + "!partial_rotary_factor is 0.5",
        "qwen2!{\"use_sliding_window\": true, \"max_window_layers\": 0, \"layer_types\": []}"
            + "!use_sliding_window is true with a sliding_window of 4096",
      })
  void open_contradictionOrUnsupportedValue_isRefusedByKey(
      String name, String change, String message) throws IOException {
    Path copy = changed(name, change);
    assertThatThrownBy(() -> PretrainedModel.open(copy))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(copy.resolve("config.json").toString())
        .hasMessageContaining(message);
  }

  private Path changed(String name, String change) throws IOException {
    TinyCheckpoints.copyOf(TinyCheckpoints.saved(name), folder);
    ObjectNode config = (ObjectNode) json(folder.resolve("config.json"));
    for (Map.Entry<String, JsonNode> entry : JSON.readTree(change).properties()) {
      if (entry.getKey().equals("use_sliding_window")) {
        config.remove("sliding_window");
      }
      config.set(entry.getKey(), entry.getValue());
    }
    JSON.writeValue(folder.resolve("config.json").toFile(), config);
    return folder;
  }

  /** PEFT's AutoPeftModelForCausalLM opens the adapters by this name alone. */
  @Test
  void save_adapters_nameTheModelBelowThem() throws IOException {
    Path saved = TinyCheckpoints.saved("qwen2");
    PretrainedModel opened = PretrainedModel.open(saved);
    JsonNode ofFolder = adapterConfig(opened, Files.createDirectory(folder.resolve("folder")));
    assertThat(ofFolder.path("base_model_name_or_path").asText()).isEqualTo(saved.toString());
    assertThat(ofFolder.path("revision").isNull()).isTrue();
    JsonNode ofHub =
        adapterConfig(
            opened.named(new BaseModelName("owner/name", "v2")),
            Files.createDirectory(folder.resolve("hub")));
    assertThat(ofHub.path("base_model_name_or_path").asText()).isEqualTo("owner/name");
    assertThat(ofHub.path("revision").asText()).isEqualTo("v2");
  }

  private static JsonNode adapterConfig(PretrainedModel model, Path target) throws IOException {
    Tuning tuning = new Tuning.LowRank(2, 4, List.of(Tuning.Target.values()));
    try (TrainingEngine trainer =
        DjlPolicy.create(model, ComputeSettings.of(1, 1, 1 << 14))
            .trained(new TrainingMode(tuning, TrainingMode.Activations.KEPT))
            .newTrainer(1)) {
      trainer.save(target);
    }
    return json(target.resolve("adapter/adapter_config.json"));
  }

  /** As transformers: a token that the model has no row for does not matter until a text has it. */
  @Test
  void encode_addedTokenAboveTheVocabulary_isRefusedByNameWhereATextHasIt() throws IOException {
    TinyCheckpoints.copyOf(TinyCheckpoints.saved("llama"), folder);
    Path file = folder.resolve("tokenizer.json");
    ObjectNode json = (ObjectNode) json(file);
    json.withArray("added_tokens")
        .addObject()
        .put("id", 264)
        .put("content", "<pad>")
        .put("single_word", false)
        .put("lstrip", false)
        .put("rstrip", false)
        .put("normalized", false)
        .put("special", true);
    JSON.writeValue(file.toFile(), json);

    var tokenizer = PretrainedTokenizer.read(folder, 264, List.of(2));

    assertThat(tokenizer.decode(tokenizer.encodeWithSpecial("the cat"))).isEqualTo("the cat");
    assertThat(tokenizer.decode(tokenizer.encode("a <pad>"))).isEqualTo("a <pad>");
    assertThatThrownBy(() -> tokenizer.encodeWithSpecial("a <pad>"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the token '<pad>' at position 2 has the id 264, and config.json has a vocab_size of"
                + " 264; leave it out of the text, or resize the model's embeddings");
  }

  @Test
  void notes_dropout_isSaid() throws IOException {
    TinyCheckpoints.copyOf(TinyCheckpoints.saved("llama"), folder);
    assertThat(PretrainedModel.open(folder).notes()).isEmpty();
    Path file = folder.resolve("tokenizer.json");
    Files.writeString(
        file, Files.readString(file).replace("\"dropout\": null", "\"dropout\": 0.3"));
    assertThat(PretrainedModel.open(folder).notes())
        .singleElement()
        .asString()
        .startsWith(file + " has a dropout of 0.3: texts are encoded at random");
  }
}
