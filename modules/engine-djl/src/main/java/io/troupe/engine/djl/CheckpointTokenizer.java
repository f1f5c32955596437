package io.troupe.engine.djl;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * troupe_tokenizer.json: {@code type} ("characters", or the class of another tokenizer), {@code
 * vocabulary_size}, {@code end_of_sequence} and, of a character tokenizer, {@code padding} and
 * {@code alphabet}, whose characters have the ids from 2 on.
 */
final class CheckpointTokenizer {
  private static final ObjectMapper JSON = new ObjectMapper();

  private CheckpointTokenizer() {}

  static byte[] json(Tokenizer tokenizer) throws JsonProcessingException {
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
    return JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(node);
  }

  /**
   * Compares a file with this run's tokenizer.
   *
   * @throws IOException if it cannot be read or differs
   */
  static void check(Path file, Tokenizer tokenizer) throws IOException {
    JsonNode expected = JSON.readTree(json(tokenizer));
    JsonNode found;
    try {
      found = JSON.readTree(Files.readAllBytes(file));
    } catch (JsonProcessingException failure) {
      throw new IOException("%s is not JSON".formatted(file), failure);
    }
    if (!expected.equals(found)) {
      throw new IOException(
          "%s describes the tokenizer %s, but this run has %s".formatted(file, found, expected));
    }
  }
}
