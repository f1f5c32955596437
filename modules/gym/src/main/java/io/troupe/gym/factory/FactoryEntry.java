package io.troupe.gym.factory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One data set of a {@code dataset_info.json}: where its rows are, and which of their keys mean
 * what. If an entry has {@code columns} or {@code tags}, those that it does not list are switched
 * off, also where they have a default.
 *
 * @param name of the data set
 * @param file of its rows
 * @param chat whether rows are lists of messages ({@code sharegpt}, {@code openai})
 * @param columns keys of a row by what they mean
 * @param tags keys and roles of a message by what they mean
 */
public record FactoryEntry(
    String name, Path file, boolean chat, Map<String, String> columns, Map<String, String> tags) {
  /** The name that DataEnvGym gives its data set. */
  public static final String CUSTOM = "custom_sft_dataset";

  static final String INDEX = "dataset_info.json";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, String> ALPACA =
      Map.of("prompt", "instruction", "query", "input", "response", "output");
  private static final Map<String, String> MESSAGES = Map.of("messages", "conversations");
  private static final Map<String, String> TAGS =
      Map.of(
          "role_tag", "from",
          "content_tag", "value",
          "user_tag", "human",
          "assistant_tag", "gpt",
          "observation_tag", "observation",
          "function_tag", "function_call",
          "system_tag", "system");
  private static final Map<String, String> OPENAI =
      Map.of(
          "role_tag", "role",
          "content_tag", "content",
          "user_tag", "user",
          "assistant_tag", "assistant",
          "system_tag", "system");

  public FactoryEntry {
    columns = Map.copyOf(columns);
    tags = Map.copyOf(tags);
  }

  /** Returns {@code dataset_info.json} of one alpaca data set, as DataEnvGym writes it. */
  public static String index(String name) {
    ObjectNode root = JSON.createObjectNode();
    ObjectNode entry = root.putObject(name);
    entry.put("file_name", name + ".jsonl");
    entry.put("formatting", "alpaca");
    entry.put("ranking", false);
    entry.put("load_from", "file");
    entry.putObject("columns").put("prompt", "instruction").put("response", "output");
    return DumpedJson.text(root);
  }

  /**
   * Reads the entry of a data set.
   *
   * @throws IOException if there is none, its rows are not in a file beside the index, or it is for
   *     a stage that Troupe does not import; says what there is
   */
  public static FactoryEntry read(Path folder, String name) throws IOException {
    Path index = folder.resolve(INDEX);
    if (!Files.isRegularFile(index)) {
      throw new IOException(
          "%s has no %s; name the folder that LLaMA-Factory has as dataset_dir"
              .formatted(folder, INDEX));
    }
    JsonNode root = JSON.readTree(Files.readAllBytes(index));
    JsonNode entry = root.path(name);
    if (!entry.isObject()) {
      List<String> names = new ArrayList<>();
      root.fieldNames().forEachRemaining(names::add);
      throw new IOException(
          "%s has no data set %s; it has %s".formatted(index, name, String.join(", ", names)));
    }
    for (String elsewhere : List.of("hf_hub_url", "ms_hub_url", "om_hub_url", "script_url")) {
      if (entry.has(elsewhere) && !entry.has("file_name")) {
        throw new IOException(
            "%s: %s is at %s %s and not in a file; fetch it first"
                .formatted(index, name, elsewhere, entry.path(elsewhere).asText()));
      }
    }
    if (entry.path("ranking").asBoolean()) {
      throw new IOException(
          "%s: %s has ranked pairs (ranking: true), and supervised rows are imported"
              .formatted(index, name));
    }
    String format = entry.path("formatting").asText("alpaca");
    boolean chat = !format.equals("alpaca");
    Map<String, String> columns = strings(entry.path("columns")).orElse(chat ? MESSAGES : ALPACA);
    Map<String, String> tags =
        strings(entry.path("tags")).orElse(format.equals("openai") ? OPENAI : TAGS);
    Path file = folder.resolve(entry.path("file_name").asText());
    if (!Files.isRegularFile(file)) {
      throw new IOException(
          "%s: file_name of %s is %s, which is no file".formatted(index, name, file));
    }
    return new FactoryEntry(name, file, chat, columns, tags);
  }

  private static Optional<Map<String, String>> strings(JsonNode node) {
    if (!node.isObject()) {
      return Optional.empty();
    }
    Map<String, String> strings = new TreeMap<>();
    node.properties().forEach(each -> strings.put(each.getKey(), each.getValue().asText()));
    return Optional.of(strings);
  }

  Optional<String> column(String meaning) {
    return Optional.ofNullable(columns.get(meaning));
  }

  Optional<String> tag(String meaning) {
    return Optional.ofNullable(tags.get(meaning));
  }
}
