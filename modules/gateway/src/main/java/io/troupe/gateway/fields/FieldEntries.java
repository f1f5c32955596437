package io.troupe.gateway.fields;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The words in which a table of fields is written. */
final class FieldEntries {
  static final String DISTRIBUTION = "only text is served, by the policy's own distribution";

  /** Why no form is forced on an answer, and what to do. */
  static final String FREE_FORM =
      DISTRIBUTION
          + ", and no form is forced on it; leave it out (a client's parse() sends it: call"
          + " create()), describe the form in the prompt, and check the answer";

  private static final ObjectMapper JSON = new ObjectMapper();

  private FieldEntries() {}

  static Map.Entry<String, FieldRule> read(String name, FieldShape shape) {
    return Map.entry(name, new FieldRule.Read(shape));
  }

  static Map.Entry<String, FieldRule> ofServer(String name, FieldShape shape) {
    return Map.entry(name, new FieldRule.OfServer(shape));
  }

  static Map.Entry<String, FieldRule> passed(String name, FieldShape shape) {
    return Map.entry(name, new FieldRule.PassedOver(shape));
  }

  /** A field that only {@code troupe serve} reads. */
  static Map.Entry<String, FieldRule> served(
      String name, FieldShape shape, String why, String... plain) {
    return Map.entry(
        name,
        new FieldRule.Limited(
            shape,
            Set.of(RequestReader.SERVER, RequestReader.SERVER_WITH_TOOLS),
            values(plain),
            why));
  }

  /** A field that {@code troupe serve} reads where the policy may not call tools. */
  static Map.Entry<String, FieldRule> withoutTools(
      String name, FieldShape shape, String why, String... plain) {
    return Map.entry(
        name, new FieldRule.Limited(shape, Set.of(RequestReader.SERVER), values(plain), why));
  }

  static Map.Entry<String, FieldRule> only(String name, String why, String... plain) {
    return Map.entry(name, new FieldRule.Only(values(plain), why));
  }

  private static List<JsonNode> values(String... plain) {
    return Arrays.stream(plain).map(FieldEntries::json).toList();
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException impossible) {
      throw new IllegalArgumentException("%s is no JSON".formatted(text), impossible);
    }
  }

  static FieldShape any() {
    return new FieldShape.Any();
  }

  static FieldShape text() {
    return new FieldShape.Text();
  }

  static FieldShape flag() {
    return new FieldShape.Flag();
  }

  static FieldShape whole(long min) {
    return whole(min, Integer.MAX_VALUE);
  }

  static FieldShape whole(long min, long max) {
    return new FieldShape.Whole(min, max);
  }

  static FieldShape atLeast(double min) {
    return new FieldShape.Decimal(min, false, Double.MAX_VALUE);
  }

  static FieldShape above(double min, double max) {
    return new FieldShape.Decimal(min, true, max);
  }

  static FieldShape share() {
    return new FieldShape.Decimal(0, false, 1);
  }

  static FieldShape oneOf(String... texts) {
    return new FieldShape.OneOf(List.of(texts));
  }

  static FieldShape stops() {
    return new FieldShape.Stops();
  }

  static FieldShape ids() {
    return new FieldShape.Ids();
  }

  static FieldShape members() {
    return new FieldShape.Members();
  }

  static FieldShape each(FieldShape shape) {
    return new FieldShape.Each(shape);
  }

  @SafeVarargs
  @SuppressWarnings("varargs") // The entries are copied.
  static FieldShape.Fields fields(Map.Entry<String, FieldRule>... rules) {
    return new FieldShape.Fields(Map.ofEntries(rules));
  }
}
