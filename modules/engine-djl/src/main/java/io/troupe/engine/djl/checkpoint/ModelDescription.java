package io.troupe.engine.djl.checkpoint;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.ModelFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The files of a checkpoint that describe its policy beside the tensors: config.json, and the
 * tokenizer's files.
 *
 * <p>A policy with random first weights has its tokenizer in troupe_tokenizer.json: {@code type}
 * ("characters", or the class of another tokenizer), {@code vocabulary_size}, {@code
 * end_of_sequence} and, of a character tokenizer, {@code padding} and {@code alphabet}, whose
 * characters have the ids from 2 on. A policy that was read from a checkpoint keeps the files of
 * the checkpoint.
 *
 * @param config of the policy
 * @param files content of the other files, by name within the checkpoint
 * @param origin the model below adapters
 */
public record ModelDescription(
    ModelConfig config, Map<String, byte[]> files, BaseModelName origin) {
  /** The folder of the chat templates that are not the default one. */
  public static final String TEMPLATES = "additional_chat_templates";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CONFIG = "config.json";
  private static final String OURS = "troupe_tokenizer.json";
  private static final String THEIRS = "tokenizer.json";

  /**
   * Files of a Hugging Face checkpoint beside its weights, which are kept; missing ones are left
   * out.
   */
  private static final List<String> COMPANIONS =
      List.of(
          OURS,
          THEIRS,
          PortableTokenizer.CONFIG,
          "tokenizer.model",
          "special_tokens_map.json",
          "added_tokens.json",
          "vocab.json",
          "merges.txt",
          "chat_template.jinja",
          "chat_template.json",
          "generation_config.json",
          "LICENSE",
          "LICENSE.txt",
          "LICENSE.md",
          "NOTICE",
          "USE_POLICY.md");

  /** The keys that must agree for the weights to have the same meaning. */
  private static final List<String> ARCHITECTURE =
      List.of(
          "model_type",
          "hidden_size",
          "num_hidden_layers",
          "num_attention_heads",
          "num_key_value_heads",
          "head_dim",
          "intermediate_size",
          "max_position_embeddings",
          "rope_theta",
          "rope_scaling",
          "rope_parameters",
          "rms_norm_eps",
          "tie_word_embeddings",
          "vocab_size",
          "eos_token_id");

  public ModelDescription {
    files = new TreeMap<>(files);
  }

  /** Describes a policy with random first weights. */
  static ModelDescription of(DecoderSettings settings, Tokenizer tokenizer) {
    ModelConfig config =
        ModelConfig.of(settings, tokenizer.vocabularySize(), tokenizer.endOfSequence());
    return new ModelDescription(config, Map.of(OURS, json(tokenizer)), BaseModelName.NONE);
  }

  /**
   * Reads what describes the policy of a checkpoint's directory.
   *
   * @throws IOException if a file cannot be read, or config.json describes an unsupported model
   */
  public static ModelDescription read(Path directory) throws IOException {
    return of(directory, ModelConfig.read(directory.resolve(CONFIG)));
  }

  /** Describes the policy of a checkpoint's directory. */
  static ModelDescription of(Path directory, ModelConfig config) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    for (String name : COMPANIONS) {
      Path file = directory.resolve(name);
      if (Files.exists(file)) {
        byte[] content = Files.readAllBytes(file);
        files.put(
            name,
            name.equals(PortableTokenizer.CONFIG)
                ? PortableTokenizer.config(file, content)
                : content);
      }
    }
    for (Path file : templates(directory)) {
      files.put(TEMPLATES + "/" + file.getFileName(), Files.readAllBytes(file));
    }
    return new ModelDescription(config.storedAs("float32"), files, BaseModelName.of(directory));
  }

  /** Returns the files of the chat templates that are not the default one, in name order. */
  public static List<Path> templates(Path directory) throws IOException {
    Path folder = directory.resolve(TEMPLATES);
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".jinja") && Files.isRegularFile(file))
          .sorted()
          .toList();
    }
  }

  /** Returns this description for weights that are stored in a type. */
  public ModelDescription storedAs(DType type) {
    String name =
        switch (type) {
          case F32 -> "float32";
          case F16 -> "float16";
          case BF16 -> "bfloat16";
        };
    return new ModelDescription(config.storedAs(name), files, origin);
  }

  /** Returns this description with another name of the model below adapters. */
  ModelDescription of(BaseModelName other) {
    return new ModelDescription(config, files, other);
  }

  /**
   * Checks the tensors of the policy.
   *
   * @throws IOException if one is missing, has another shape, or is none of the policy's
   */
  public void requireWeights(ModelFiles weights) throws IOException {
    new CheckpointTensors(weights.source(), weights.tensors())
        .check(
            DecoderLayout.of(config.settings(), config.vocabulary()),
            CheckpointTensors.Authority.CONFIGURATION,
            List.of(""));
  }

  /** Whether the policy in a directory reads characters, so that no other file has its tokens. */
  static boolean hasCharacters(Path directory) {
    return Files.exists(directory.resolve(OURS)) && !Files.exists(directory.resolve(THEIRS));
  }

  /** Reads the character tokenizer of a policy that began with random weights. */
  static Tokenizer characters(Path directory) throws IOException {
    Path file = directory.resolve(OURS);
    JsonNode node = tree(file);
    String alphabet = node.path("alphabet").asText();
    if (!node.path("type").asText().equals("characters") || alphabet.isEmpty()) {
      throw new IOException(
          "%s describes the tokenizer %s, which only its own run has; take a checkpoint whose tokenizer is of characters, or has a tokenizer.json"
              .formatted(file, excerpt(node)));
    }
    try {
      return new CharacterTokenizer(alphabet);
    } catch (IllegalArgumentException wrong) {
      throw new IOException("%s: %s".formatted(file, wrong.getMessage()), wrong);
    }
  }

  private static byte[] json(Tokenizer tokenizer) {
    ObjectNode node = JSON.createObjectNode();
    if (tokenizer instanceof CharacterTokenizer characters) {
      node.put("type", "characters");
      node.put("padding", CharacterTokenizer.PADDING);
      node.put("alphabet", characters.alphabet());
    } else {
      node.put("type", tokenizer.getClass().getName());
    }
    node.put("vocabulary_size", tokenizer.vocabularySize());
    node.put("end_of_sequence", tokenizer.endOfSequence());
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(node);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException("texts and numbers are JSON", impossible);
    }
  }

  /** Writes all files, durably. */
  public void write(Path directory) throws IOException {
    write(directory.resolve(CONFIG), config.bytes());
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      if (file.getKey().startsWith(TEMPLATES)) {
        Files.createDirectories(directory.resolve(TEMPLATES));
      }
      write(directory.resolve(file.getKey()), file.getValue());
    }
  }

  private static void write(Path file, byte[] content) throws IOException {
    Files.write(
        file,
        content,
        StandardOpenOption.CREATE_NEW,
        StandardOpenOption.WRITE,
        StandardOpenOption.DSYNC);
  }

  /**
   * Compares a directory with this policy.
   *
   * @throws IOException if a file cannot be read or differs; the message names file, key and values
   */
  void check(Path directory) throws IOException {
    Path file = directory.resolve(CONFIG);
    JsonNode found = tree(file);
    // Through text, so that read and computed numbers have the same class.
    JsonNode expected = JSON.readTree(config.bytes());
    for (String key : ARCHITECTURE) {
      if (!expected.path(key).equals(found.path(key))) {
        throw new IOException(
            "%s: %s is %s, but this run's policy has %s"
                .formatted(file, key, found.path(key), expected.path(key)));
      }
    }
    checkTokenizer(directory, OURS);
    checkTokenizer(directory, THEIRS);
  }

  /**
   * Checks that each id of a directory's tokenizer is the same token in this policy's tokenizer.
   * The rules that split a text into tokens may differ, because a teacher gets ids.
   *
   * @throws IllegalArgumentException if an id differs, or the directory has no such tokenizer
   */
  void requireSameTokens(Path directory) {
    for (String name : List.of(OURS, THEIRS)) {
      byte[] mine = files.get(name);
      if (mine != null) {
        Path file = directory.resolve(name);
        require(
            Files.exists(file),
            "%s is missing: a teacher needs the policy's tokenizer, which is of that kind",
            file);
        try {
          requireSame(
              file,
              TokenizerVocabulary.of(JSON.readTree(mine)),
              TokenizerVocabulary.of(tree(file)));
        } catch (IOException failure) {
          throw new IllegalArgumentException(failure.getMessage(), failure);
        }
      }
    }
  }

  private static Set<Long> ids(Map<Long, String> one, Map<Long, String> other) {
    Set<Long> ids = new TreeSet<>(one.keySet());
    ids.addAll(other.keySet());
    return ids;
  }

  private static void requireSame(Path file, Map<Long, String> policy, Map<Long, String> teacher) {
    for (long id : ids(policy, teacher)) {
      String mine = policy.getOrDefault(id, "");
      String theirs = teacher.getOrDefault(id, "");
      require(
          mine.equals(theirs),
          "%s: token %d is '%s', and the policy's is '%s'; a teacher needs the policy's tokens",
          file,
          id,
          theirs,
          mine);
    }
  }

  private void checkTokenizer(Path directory, String name) throws IOException {
    byte[] mine = files.get(name);
    if (mine == null) {
      return;
    }
    Path file = directory.resolve(name);
    JsonNode expected = JSON.readTree(mine);
    JsonNode found = tree(file);
    if (!expected.equals(found)) {
      throw new IOException(
          "%s describes the tokenizer %s, but this run has %s"
              .formatted(file, excerpt(found), excerpt(expected)));
    }
  }

  private static String excerpt(JsonNode node) {
    String text = node.toString();
    return text.length() <= 200 ? text : text.substring(0, 200) + " ...";
  }

  private static JsonNode tree(Path file) throws IOException {
    try {
      return JSON.readTree(Files.readAllBytes(file));
    } catch (JsonProcessingException failure) {
      throw new IOException("%s is not JSON".formatted(file), failure);
    }
  }
}
