package io.troupe.gym.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Optional;

/**
 * Asks a language model for JSON of a schema. An answer that does not fit is sent back once with
 * what is wrong; after that there is no answer.
 */
public final class JsonAnswers {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final LanguageModel model;

  public JsonAnswers(LanguageModel model) {
    this.model = model;
  }

  /**
   * Returns the model's answer, if one of two fits.
   *
   * @param schema as JSON Schema: {@link JsonShape}
   */
  public Optional<JsonNode> ask(ModelRequest request, JsonNode schema) throws IOException {
    String asked =
        request.user() + "\n\nAnswer with JSON only, of this schema:\n" + schema.toString() + "\n";
    String first = model.ask(new ModelRequest(request.system(), asked, request.occasion())).text();
    Read read = read(first, schema);
    if (read.wrong().isPresent()) {
      String repair =
          asked
              + "\nYou answered:\n%s\n\nThat does not fit: %s. Answer again, with JSON only.\n"
                  .formatted(first, read.wrong().get());
      read =
          read(
              model.ask(new ModelRequest(request.system(), repair, request.occasion())).text(),
              schema);
    }
    return read.wrong().isPresent() ? Optional.empty() : Optional.of(read.node());
  }

  private record Read(JsonNode node, Optional<String> wrong) {}

  private static Read read(String text, JsonNode schema) {
    int begin = text.indexOf('{');
    int end = text.lastIndexOf('}');
    if (begin < 0 || end < begin) {
      return new Read(JSON.nullNode(), Optional.of("it holds no JSON object"));
    }
    try {
      JsonNode node = JSON.readTree(text.substring(begin, end + 1));
      return new Read(node, JsonShape.violation(schema, node, "the answer"));
    } catch (JsonProcessingException damaged) {
      return new Read(JSON.nullNode(), Optional.of(damaged.getOriginalMessage()));
    }
  }
}
