package io.troupe.chat;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.base.hash.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/**
 * Random conversations over the chat templates that trl ships, beside what transformers makes of
 * them: {@code random_conversations.py} has recorded it. The property {@code conversations.table}
 * names another table of that program.
 */
final class RandomConversationsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static JsonNode table() throws IOException {
    String file = System.getProperty("conversations.table", "");
    try (InputStream packed =
            file.isEmpty()
                ? RandomConversationsTest.class.getResourceAsStream("random-conversations.json.gz")
                : Files.newInputStream(Path.of(file));
        InputStream json = new GZIPInputStream(packed)) {
      return JSON.readTree(json);
    }
  }

  private static <T> T as(JsonNode node, TypeReference<T> type) {
    return JSON.convertValue(node, type);
  }

  @Test
  void render_randomConversation_isTheTextOfTransformersOrRefusedByBoth() throws IOException {
    JsonNode table = table();
    Map<String, String> special = as(table.path("special"), new TypeReference<>() {});
    Clock clock = Clock.fixed(Instant.parse(table.path("now").textValue()), ZoneOffset.UTC);
    Map<String, ChatTemplate> templates = new TreeMap<>();
    table
        .path("templates")
        .properties()
        .forEach(
            each ->
                templates.put(
                    each.getKey(),
                    JinjaChatTemplate.of(each.getValue().textValue(), special, clock)));
    List<String> wrong = new ArrayList<>();
    int rendered = 0;
    for (JsonNode each : table.path("cases")) {
      ChatTemplate template =
          Objects.requireNonNull(templates.get(each.path("template").textValue()));
      Map<String, Object> variables = as(each.path("variables"), new TypeReference<>() {});
      boolean refused = false;
      String here;
      try {
        here = template.render(List.of(), each.path("generate").booleanValue(), variables);
      } catch (IllegalArgumentException refusal) {
        refused = true;
        here = String.valueOf(refusal.getMessage());
      }
      if (refused != each.has("refused")
          || !(refused || digest(here).equals(each.path("sha").textValue()))) {
        wrong.add("%s%n  here: %s".formatted(each, here));
      }
      rendered += refused ? 0 : 1;
    }

    assertThat(wrong).isEmpty();
    assertThat(rendered).isGreaterThan(table.path("cases").size() * 2 / 3);
  }

  private static String digest(String text) {
    MessageDigest sha = Sha256.digest();
    sha.update(text.getBytes(StandardCharsets.UTF_8));
    return Sha256.hex(sha).substring(0, 16);
  }
}
