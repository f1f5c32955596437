package io.troupe.engine.djl.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.TreeMap;

/** The token of each id of a stored tokenizer. */
final class TokenizerVocabulary {
  private static final int FIRST_CHARACTER = 2;

  private TokenizerVocabulary() {}

  /**
   * Returns the tokens of tokenizer.json, or of a character tokenizer's troupe_tokenizer.json,
   * whose characters have the ids from 2 on.
   */
  static Map<Long, String> of(JsonNode tokenizer) {
    Map<Long, String> tokens = new TreeMap<>();
    long character = FIRST_CHARACTER;
    for (int point : tokenizer.path("alphabet").asText().codePoints().toArray()) {
      tokens.put(character, Character.toString(point));
      character++;
    }
    tokens.putAll(ofModel(tokenizer));
    for (JsonNode added : tokenizer.path("added_tokens")) {
      tokens.put(added.path("id").asLong(), added.path("content").asText());
    }
    return tokens;
  }

  /** Returns the tokens of tokenizer.json without the added ones. */
  static Map<Long, String> ofModel(JsonNode tokenizer) {
    Map<Long, String> tokens = new TreeMap<>();
    JsonNode model = tokenizer.path("model").path("vocab");
    if (model.isArray()) { // of a unigram model: pairs of token and score, by id
      long id = 0;
      for (JsonNode pair : model) {
        tokens.put(id, pair.path(0).asText());
        id++;
      }
    }
    model.properties().forEach(one -> tokens.put(one.getValue().asLong(-1), one.getKey()));
    return tokens;
  }
}
