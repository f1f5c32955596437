package io.troupe.engine.protocol;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Reads JSON as servers write it. NaN and Infinity are read as numbers, so that the check of a
 * completion can name them.
 */
public final class JsonFields {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();
  private static final int SHOWN = 200;

  /** The limits protect the heap: a body of brackets alone takes fifty times its size as a tree. */
  private static final ObjectMapper STRANGERS =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(64)
                          .maxTokenCount(1_000_000)
                          .build())
                  .build())
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .build();

  private static final int[] NONE = {};

  private JsonFields() {}

  /** Returns an empty object. */
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /**
   * Reads a JSON object.
   *
   * @throws MalformedResponseException if the text is none
   */
  public static JsonNode parse(String text) throws MalformedResponseException {
    try {
      JsonNode node = MAPPER.readTree(text);
      if (node.isObject()) {
        return node;
      }
    } catch (JsonProcessingException notJson) {
      throw new MalformedResponseException("not JSON: " + excerpt(text));
    }
    throw new MalformedResponseException("not a JSON object: " + excerpt(text));
  }

  /**
   * Reads a request, a JSON object of at most a million tokens.
   *
   * @throws MalformedResponseException if it is none
   */
  public static JsonNode request(byte[] body) throws MalformedResponseException {
    try {
      JsonNode node = STRANGERS.readTree(body);
      if (node != null && node.isObject()) {
        return node;
      }
    } catch (StreamConstraintsException tooMuch) {
      throw new MalformedResponseException("too much: " + tooMuch.getOriginalMessage());
    } catch (IOException notJson) {
      throw new MalformedResponseException("not JSON: " + shown(body));
    }
    throw new MalformedResponseException("not a JSON object: " + shown(body));
  }

  private static String shown(byte[] body) {
    return excerpt(new String(body, 0, Math.min(body.length, 4 * SHOWN), StandardCharsets.UTF_8));
  }

  /** Returns the bytes of a request. */
  public static byte[] bytes(JsonNode node) {
    try {
      return MAPPER.writeValueAsBytes(node);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException("a tree of JSON can be written", impossible);
    }
  }

  /** Returns the beginning of a text, on one line. */
  public static String excerpt(String text) {
    String line = text.strip().replaceAll("\\s+", " ");
    return line.length() <= SHOWN ? line : line.substring(0, SHOWN) + " ...";
  }

  /** Returns the ids of an array; none where there is no array. */
  public static int[] ids(JsonNode array) throws MalformedResponseException {
    if (!array.isArray()) {
      return NONE;
    }
    int[] ids = new int[array.size()];
    for (int i = 0; i < ids.length; i++) {
      if (!array.get(i).isIntegralNumber() || !array.get(i).canConvertToInt()) {
        throw new MalformedResponseException("%s is no token id".formatted(array.get(i)));
      }
      ids[i] = array.get(i).intValue();
    }
    return ids;
  }

  /** Returns a log-probability; NaN where there is none. */
  public static double number(JsonNode node) {
    return node.isNumber() ? node.doubleValue() : Double.NaN;
  }

  /** Returns a count; empty where there is none. */
  public static OptionalInt count(JsonNode node) {
    return node.isIntegralNumber() && node.canConvertToInt()
        ? OptionalInt.of(node.intValue())
        : OptionalInt.empty();
  }

  /** Returns version spans as vLLM and SGLang report them, half-open. */
  public static List<VersionSpan> spans(JsonNode array) {
    List<VersionSpan> spans = new ArrayList<>();
    for (JsonNode span : array) {
      spans.add(
          new VersionSpan(
              span.path("version").asText(),
              span.path("start").asInt(-1),
              span.path("end").asInt(-1)));
    }
    return spans;
  }

  public static String text(JsonNode node) {
    return node.isTextual() ? node.textValue() : "";
  }
}
