package io.troupe.engine.djl.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;

/**
 * tokenizer_config.json in words that transformers 4 and 5 understand alike. Version 5 saves the
 * class {@code TokenizersBackend} and a list {@code extra_special_tokens}, which version 4 does not
 * open; both versions read {@code PreTrainedTokenizerFast} and {@code additional_special_tokens}.
 */
final class PortableTokenizer {
  static final String CONFIG = "tokenizer_config.json";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CLASS = "tokenizer_class";
  private static final String EXTRA = "extra_special_tokens";
  private static final String ADDITIONAL = "additional_special_tokens";

  private PortableTokenizer() {}

  /**
   * Returns the content of the file, the same bytes where nothing is to be changed.
   *
   * @throws IOException if the file is not JSON
   */
  static byte[] config(Path file, byte[] content) throws IOException {
    try {
      return JSON.readTree(content) instanceof ObjectNode node && changed(node)
          ? JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(node)
          : content;
    } catch (JsonProcessingException failure) {
      throw new IOException("%s is not JSON".formatted(file), failure);
    }
  }

  private static boolean changed(ObjectNode node) {
    boolean changed = false;
    if (node.path(CLASS).asText().equals("TokenizersBackend")) {
      node.put(CLASS, "PreTrainedTokenizerFast");
      changed = true;
    }
    if (node.path(EXTRA).isArray()) {
      JsonNode extra = node.remove(EXTRA);
      node.putIfAbsent(ADDITIONAL, extra);
      changed = true;
    }
    return changed;
  }
}
