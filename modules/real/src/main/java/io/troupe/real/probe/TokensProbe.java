package io.troupe.real.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.checkpoint.PretrainedTokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;

/**
 * A tokenizer: {@code {"folder", "vocabulary"}} opens that of a checkpoint with this many rows of
 * its embedding, and then {@code {"text"}} is answered by {@code {"ids": […]}}, {@code {"ids"}} by
 * {@code {"text"}}.
 */
public final class TokensProbe {
  private Optional<Tokenizer> tokenizer = Optional.empty();

  private TokensProbe() {}

  /** Answers until the end of the input. */
  public static void main(String[] arguments) throws IOException {
    ProbeLines.serve(new TokensProbe()::answer);
  }

  private JsonNode answer(JsonNode question) throws IOException {
    ObjectNode answer = ProbeLines.object();
    if (question.has("folder")) {
      tokenizer =
          Optional.of(
              PretrainedTokenizer.read(
                  Path.of(question.path("folder").asText()),
                  question.path("vocabulary").asInt(),
                  List.of(0)));
      return answer.put("opened", true);
    }
    Tokenizer opened = tokenizer.orElseThrow();
    if (question.has("ids")) {
      int[] ids =
          StreamSupport.stream(question.path("ids").spliterator(), false)
              .mapToInt(JsonNode::asInt)
              .toArray();
      return answer.put("text", opened.decode(ids));
    }
    ArrayNode ids = answer.putArray("ids");
    for (int id : opened.encodeWithSpecial(question.path("text").asText())) {
      ids.add(id);
    }
    return answer;
  }
}
