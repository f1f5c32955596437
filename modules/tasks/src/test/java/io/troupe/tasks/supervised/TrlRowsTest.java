package io.troupe.tasks.supervised;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.chat.ChatTemplate;
import io.troupe.chat.JinjaChatTemplate;
import io.troupe.chat.Thinking;
import io.troupe.core.supervised.SupervisedExample;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is learnt of random conversations, beside what trl's trainer learns of them: {@code
 * trl_rows.py} has recorded it, over the chat templates that trl ships. The property {@code
 * trl.rows} names another table of that program.
 */
final class TrlRowsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Clock DAY =
      Clock.fixed(Instant.parse("2026-01-02T03:04:05Z"), ZoneOffset.UTC);

  @TempDir private Path folder;

  /** What becomes of a row here. */
  private sealed interface Outcome {
    /** Its sequences, with their texts, learnt parts between ⟦ and ⟧. */
    record Learnt(List<String> texts, long crc) implements Outcome {}

    record Refused(String why) implements Outcome {}
  }

  @Test
  void examples_randomConversations_areThoseOfTrlOrRefused() throws IOException {
    JsonNode table = table();
    Map<String, Integer> counts = new TreeMap<>();
    List<String> wrong = new ArrayList<>();
    for (JsonNode each : table.path("rows")) {
      JsonNode template = table.path("templates").path(each.path("template").textValue());
      Outcome outcome = outcome(each.path("row"), template);
      String verdict = verdict(each, outcome, template.path("eos").textValue());
      counts.merge(verdict, 1, Integer::sum);
      if (verdict.equals("wrong")) {
        wrong.add("%s%n  here: %s".formatted(each, outcome));
      }
    }

    assertThat(wrong).isEmpty();
    assertThat(counts.getOrDefault("equal", 0)).isGreaterThan(table.path("rows").size() / 2);
  }

  private static JsonNode table() throws IOException {
    String file = System.getProperty("trl.rows", "");
    try (InputStream packed =
            file.isEmpty()
                ? TrlRowsTest.class.getResourceAsStream("trl-rows.json.gz")
                : Files.newInputStream(Path.of(file));
        InputStream json = new GZIPInputStream(packed)) {
      return JSON.readTree(json);
    }
  }

  /**
   * Compares what is learnt. A text that leaves a part of the row out is learnt by trl as it is; a
   * row whose prompt its text does not begin with is warned of. Where a template writes no end
   * behind an answer, the checkpoint's own is learnt here.
   */
  private static String verdict(JsonNode row, Outcome outcome, String end) {
    String text = row.path("text").asText();
    return switch (outcome) {
      case Outcome.Refused _ when row.has("refused") -> "refused by the template";
      case Outcome.Refused(String why)
          when (row.has("lost") || row.has("unmasked"))
              && (why.contains("leaves out") || why.contains("asks for")) ->
          "refused for what the template leaves out";
      case Outcome.Learnt(var texts, long crc)
          when texts.equals(List.of(text)) && crc == row.path("crc").asLong() ->
          "equal";
      case Outcome.Learnt(var texts, long _)
          when texts.equals(List.of(text.replaceFirst("⟧$", end + "⟧"))) ->
          "equal, and ended";
      case Outcome.Learnt(var texts, long _) when row.has("unmasked") && texts.size() == 1 ->
          text.startsWith(texts.getFirst().replaceAll("[⟦⟧]", "")) ? "equal ids" : "wrong";
      case Outcome.Learnt(var texts, long _)
          when texts.size() > 1 && (row.has("lost") || row.has("unmasked")) ->
          "several sequences, for what the template leaves out of the past";
      case Outcome _ -> "wrong";
    };
  }

  private Outcome outcome(JsonNode row, JsonNode template) throws IOException {
    List<String> special = new ArrayList<>();
    template.path("special").forEach(one -> special.add(one.textValue()));
    String end = template.path("eos").textValue();
    ByteTokenizer tokenizer = new ByteTokenizer(special, end);
    Path file = Files.writeString(folder.resolve("rows.jsonl"), row + "\n");
    boolean chat = !row.path("prompt").isTextual();
    SupervisedRow read =
        new SupervisedFormat("messages", "prompt", "completion", "source", chat, Set.of())
            .read(List.of(file))
            .getFirst();
    try {
      List<SupervisedExample> examples =
          new SupervisedTokens(chat(template), tokenizer).examples(read);
      return new Outcome.Learnt(
          examples.stream().map(each -> shown(tokenizer, each)).toList(), crc(examples.getFirst()));
    } catch (IllegalArgumentException refused) {
      return new Outcome.Refused(String.valueOf(refused.getMessage()));
    }
  }

  private static ChatTemplate chat(JsonNode template) {
    Map<String, String> named = new HashMap<>();
    for (String name : List.of("bos", "eos")) {
      if (!template.path(name).textValue().isEmpty()) {
        named.put(name + "_token", template.path(name).textValue());
      }
    }
    return Thinking.AUTO
        .in(Optional.of(JinjaChatTemplate.of(template.path("text").textValue(), named, DAY)))
        .orElseThrow();
  }

  private static String shown(ByteTokenizer tokenizer, SupervisedExample example) {
    StringBuilder text = new StringBuilder(tokenizer.spelled(example.prompt()));
    int[] ids = example.completion();
    int from = 0;
    for (int t = 1; t <= ids.length; t++) {
      if (t == ids.length || example.imitated()[t] != example.imitated()[from]) {
        String part = tokenizer.spelled(Arrays.copyOfRange(ids, from, t));
        text.append(example.imitated()[from] ? "⟦" + part + "⟧" : part);
        from = t;
      }
    }
    return text.toString();
  }

  private static long crc(SupervisedExample example) {
    int prompt = example.prompt().length;
    ByteBuffer bytes = ByteBuffer.allocate(2 * Integer.BYTES * example.length());
    for (int id : example.prompt()) {
      bytes.putInt(id);
    }
    for (int id : example.completion()) {
      bytes.putInt(id);
    }
    bytes.position(bytes.position() + Integer.BYTES * prompt);
    for (boolean imitated : example.imitated()) {
      bytes.putInt(imitated ? 1 : 0);
    }
    CRC32 crc = new CRC32();
    crc.update(bytes.array());
    return crc.getValue();
  }
}
