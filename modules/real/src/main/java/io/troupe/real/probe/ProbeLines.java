package io.troupe.real.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * Questions on standard input and answers on standard output, a line of JSON each. What Troupe
 * refuses is an answer, too: {@code {"refused": "the message"}}; and so is what it throws.
 */
final class ProbeLines {
  /** Answers a question. */
  @FunctionalInterface
  interface Answering {
    JsonNode answer(JsonNode question) throws IOException;
  }

  private static final JsonMapper JSON = new JsonMapper();

  private ProbeLines() {}

  static void serve(Answering answering) throws IOException {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      String line = in.readLine();
      while (line != null) {
        System.out.println(answer(answering, JSON.readTree(line)));
        line = in.readLine();
      }
    }
  }

  private static JsonNode answer(Answering answering, JsonNode question) {
    try {
      return answering.answer(question);
    } catch (IOException | IllegalArgumentException refused) {
      return object().put("refused", String.valueOf(refused.getMessage()));
    } catch (RuntimeException defect) {
      // The other questions have answers of their own; the driver shows this one as a failure.
      return object().put("threw", defect.toString());
    }
  }

  static ObjectNode object() {
    return JSON.createObjectNode();
  }
}
