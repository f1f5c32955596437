package io.troupe.gym.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.item.RowForm;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.model.JsonAnswers;
import io.troupe.gym.model.LanguageModel;
import io.troupe.gym.model.ModelRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A language model that writes rows, by prompts in files. An answer that does not fit its schema
 * after a repair gives no rows: the proposal is smaller, and the report says so.
 *
 * <p>The occasion of a call is its seed, iteration and number, without the trial, so that arms of
 * one seed share the answers to equal questions.
 */
public final class ModelMaker implements RowMaker {
  private static final int ROWS_OF_A_CALL = 10;
  private static final int EXAMPLES = 3;
  private static final String SYSTEM = "You write exact training data for language models.";
  private static final ObjectMapper JSON = new ObjectMapper();

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
  private final PromptFiles prompts;
  private final JsonAnswers answers;

  /** A maker of rows for a task. */
  public ModelMaker(GymTask task, PromptFiles prompts, LanguageModel model) {
    this.task = task;
    this.prompts = prompts;
    this.answers = new JsonAnswers(model);
  }

  @Override
  public List<String> subskills(Occasion occasion, String skill, List<String> known, int wanted)
      throws IOException {
    String prompt =
        prompts.filled(
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
      Map<String, String> places = places(order, wanted);
      places.put("subskill", order.subskill());
      ModelRequest asked = request(occasion, prompts.filled("rows.txt", places), call);
      written(answers.ask(asked, rowsOf(order, false)), wanted)
          .forEach(each -> rows.add(row(occasion, order, rows.size(), each)));
    }
    return rows;
  }

  @Override
  public List<TrainingRow> against(Occasion occasion, int call, RowOrder order) throws IOException {
    List<TrainingRow> rows = new ArrayList<>();
    String prompt = prompts.filled("hypothesis.txt", places(order, order.wanted()));
    written(answers.ask(request(occasion, prompt, call), rowsOf(order, true)), order.wanted())
        .forEach(each -> rows.add(row(occasion, order, order.before() + rows.size(), each)));
    return rows;
  }

  private Map<String, String> places(RowOrder order, int wanted) {
    Map<String, String> places = new HashMap<>();
    places.put("skill", order.skill());
    places.put("examples", examples(order.skill(), order.subskill()));
    places.put("errors", errors(order.errors()));
    places.put("form", task.form(order.skill()).meaning());
    places.put("wanted", Integer.toString(wanted));
    return places;
  }

  /**
   * The schema of an answer with rows.
   *
   * @param named whether it first names the weak skill
   */
  private JsonNode rowsOf(RowOrder order, boolean named) {
    ObjectNode schema = JSON.createObjectNode().put("type", "object");
    ObjectNode properties = JSON.createObjectNode();
    if (named) {
      schema.withArray("required").add("weak_skill");
      properties.putObject("weak_skill").put("type", "string");
    }
    schema.withArray("required").add("rows");
    properties
        .putObject("rows")
        .put("type", "array")
        .set("items", task.form(order.skill()).schema());
    schema.set("properties", properties);
    return schema;
  }

  /** The rows of an answer that have a problem, at most as many as were wanted. */
  private static List<JsonNode> written(Optional<JsonNode> answer, int wanted) {
    List<JsonNode> rows = new ArrayList<>();
    answer.ifPresent(node -> node.path("rows").forEach(rows::add));
    return rows.stream()
        .limit(wanted)
        .filter(each -> !each.path("problem").asText().isBlank())
        .toList();
  }

  private TrainingRow row(Occasion occasion, RowOrder order, int number, JsonNode node) {
    RowForm.Written written = task.form(order.skill()).of(node);
    GymItem item = task.item(order.skill(), order.subskill(), written.problem(), written.answer());
    String id = "%s#%d.%d.%d".formatted(item.leaf(), occasion.seed(), occasion.iteration(), number);
    return new TrainingRow(id, item, written.response());
  }

  @Override
  public int solves(Occasion occasion, TrainingRow row, int tries) throws IOException {
    String prompt =
        prompts.filled(
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

  private static JsonNode schema(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException defect) {
      throw new IllegalStateException(defect);
    }
  }
}
