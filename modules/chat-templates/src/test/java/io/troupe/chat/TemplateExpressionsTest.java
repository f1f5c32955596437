package io.troupe.chat;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.chat.jinja.Template;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Expressions and statements against Python's jinja2: {@code template_expressions.py}. */
final class TemplateExpressionsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Cases that jinja2 renders and that are refused here, of every hundred. */
  private static final int MOST_REFUSED = 5;

  private static JsonNode table() throws IOException {
    try (InputStream in =
        TemplateExpressionsTest.class.getResourceAsStream("expressions/expressions.json")) {
      return JSON.readTree(Objects.requireNonNull(in));
    }
  }

  @Test
  void render_everyExpression_isWhatJinja2MakesOrRefusedByItsLine() throws IOException {
    JsonNode table = table();
    Map<String, Object> values =
        JSON.convertValue(
            table.path("values"), new TypeReference<LinkedHashMap<String, Object>>() {});
    List<String> wrong = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    int rendered = 0;
    for (JsonNode one : table.path("cases")) {
      String template = one.path("template").asText();
      rendered += one.has("text") ? 1 : 0;
      try {
        String text = Template.parse(template, Clock.systemUTC()).render(values);
        if (!one.path("text").isTextual() || !text.equals(one.path("text").asText())) {
          wrong.add("%s%n  jinja2: %s%n  here:   %s".formatted(template, one.path("text"), text));
        }
      } catch (IllegalArgumentException refusal) {
        assertThat(refusal).as(template).hasMessageStartingWith("line 1 of the template: ");
        if (one.has("text")) {
          refused.add("%s: %s".formatted(template, refusal.getMessage()));
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(refused).hasSizeLessThan(rendered * MOST_REFUSED / 100);
  }
}
