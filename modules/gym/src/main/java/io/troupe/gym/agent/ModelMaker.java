package io.troupe.gym.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.model.JsonAnswers;
import io.troupe.gym.model.LanguageModel;
import io.troupe.gym.model.ModelRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A language model that writes rows. Its prompts are files beside this class. An answer that does
 * not fit its schema after a repair gives no rows: the proposal is smaller, and the report says so.
 *
 * <p>The occasion of a call is its seed, iteration and number, without the trial, so that arms of
 * one seed share the answers to equal questions.
 */
public final class ModelMaker implements RowMaker {
  private static final int ROWS_OF_A_CALL = 10;
  private static final int EXAMPLES = 3;
  private static final String SYSTEM = "You write exact training data for language models.";
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final JsonNode ROWS =
      schema(
          """
          {"type":"object","required":["rows"],"properties":{"rows":{"type":"array","items":
          {"type":"object","required":["problem","answer"],"properties":
          {"problem":{"type":"string"},"answer":{"type":"string"}}}}}}""");

  private static final JsonNode NAMES =
      schema(
          """
          {"type":"object","required":["subskills"],"properties":{"subskills":{"type":"array",
          "items":{"type":"string"}}}}""");

  private static final JsonNode ANSWER =
      schema(
          """
          {"type":"object","required":["answer"],"properties":{"answer":{"type":"string"}}}""");

  private final GymTask task;
  private final JsonAnswers answers;

  /** A maker of rows for a task. */
  public ModelMaker(GymTask task, LanguageModel model) {
    this.task = task;
    this.answers = new JsonAnswers(model);
  }

  @Override
  public List<String> subskills(Occasion occasion, String skill, List<String> known, int wanted)
      throws IOException {
    String prompt =
        filled(
            "subskills.txt",
            Map.of(
                "skill",
                skill,
                "known",
                known.isEmpty() ? "none" : String.join(", ", known),
                "examples",
                examples(skill, ""),
                "wanted",
                Integer.toString(wanted)));
    Optional<JsonNode> answer = answers.ask(request(occasion, prompt, 0), NAMES);
    List<String> names = new ArrayList<>();
    answer.ifPresent(
        node -> node.path("subskills").forEach(each -> names.add(each.asText().replace('/', '-'))));
    return names.stream().filter(name -> !name.isBlank()).distinct().limit(wanted).toList();
  }

  @Override
  public List<TrainingRow> rows(Occasion occasion, RowOrder order) throws IOException {
    List<TrainingRow> rows = new ArrayList<>();
    for (int call = 0; call * ROWS_OF_A_CALL < order.wanted(); call++) {
      int wanted = Math.min(ROWS_OF_A_CALL, order.wanted() - call * ROWS_OF_A_CALL);
      String prompt =
          filled(
              "rows.txt",
              Map.of(
                  "skill", order.skill(),
                  "subskill", order.subskill(),
                  "examples", examples(order.skill(), order.subskill()),
                  "errors", errors(order.errors()),
                  "wanted", Integer.toString(wanted)));
      Optional<JsonNode> answer = answers.ask(request(occasion, prompt, call), ROWS);
      if (answer.isPresent()) {
        int left = wanted;
        for (JsonNode each : answer.get().path("rows")) {
          if (left-- > 0 && !each.path("problem").asText().isBlank()) {
            rows.add(row(occasion, order, rows.size(), each));
          }
        }
      }
    }
    return rows;
  }

  private TrainingRow row(Occasion occasion, RowOrder order, int number, JsonNode written) {
    GymItem item =
        task.item(
            order.skill(),
            order.subskill(),
            written.path("problem").asText(),
            written.path("answer").asText());
    String id = "%s#%d.%d.%d".formatted(item.leaf(), occasion.seed(), occasion.iteration(), number);
    return new TrainingRow(id, item, item.answer());
  }

  @Override
  public int solves(Occasion occasion, TrainingRow row, int tries) throws IOException {
    String prompt =
        filled(
            "solve.txt",
            Map.of(
                "problem", row.item().prompt(),
                "examples", examples(row.item().skill(), row.item().subskill())));
    int agreeing = 0;
    for (int number = 0; number < tries; number++) {
      Optional<JsonNode> answer = answers.ask(request(occasion, prompt, number), ANSWER);
      if (answer.isPresent() && task.passes(row.item(), answer.get().path("answer").asText())) {
        agreeing++;
      }
    }
    return agreeing;
  }

  private static ModelRequest request(Occasion occasion, String prompt, int number) {
    return new ModelRequest(
        SYSTEM, prompt, "%d.%d.%d".formatted(occasion.seed(), occasion.iteration(), number));
  }

  private String examples(String skill, String subskill) {
    List<GymItem> items = task.examples(skill, subskill, EXAMPLES);
    return (items.isEmpty() ? task.examples(skill, "", EXAMPLES) : items)
        .stream()
            .map(item -> item.prompt() + "  answer: " + item.answer())
            .collect(Collectors.joining("\n"));
  }

  private static String errors(List<AnsweredItem> errors) {
    return errors.isEmpty()
        ? "nothing"
        : errors.stream()
            .map(
                each ->
                    "%s  the student answers: %s  right is: %s"
                        .formatted(each.item().prompt(), each.response(), each.item().answer()))
            .collect(Collectors.joining("\n"));
  }

  /** The text of a prompt file with its places filled; a place without a value is a defect. */
  private static String filled(String file, Map<String, String> values) throws IOException {
    String text;
    try (InputStream in =
        Objects.requireNonNull(ModelMaker.class.getResourceAsStream(file), file)) {
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    StringBuilder filled = new StringBuilder();
    int at = 0;
    for (int open = text.indexOf('{'); open >= 0; open = text.indexOf('{', at)) {
      int close = text.indexOf('}', open);
      String name = text.substring(open + 1, close);
      filled.append(text, at, open).append(Objects.requireNonNull(values.get(name), name));
      at = close + 1;
    }
    return filled.append(text.substring(at)).toString();
  }

  private static JsonNode schema(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException defect) {
      throw new IllegalStateException(defect);
    }
  }
}
