package io.troupe.gym.session;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.base.hash.Sha256;
import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.GymReport;
import io.troupe.gym.item.SkillSlice;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.loop.Split;
import io.troupe.gym.loop.TrialState;
import io.troupe.store.file.DiskFailureException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The folder of a gym, with the file names of DataEnvGym in each iteration's folder. Every file is
 * whole or absent; docs/formats.md describes them.
 */
public final class GymFolder {
  static final String STUDENT = "trainable_predictor";
  static final String PROPOSED = "proposed_data.jsonl";
  static final String KEPT = "training_data.jsonl";
  static final String REFUSED = "refused_data.jsonl";
  static final String HISTORY = "performance_history.csv";

  private final Path path;

  /** A folder that exists. */
  public GymFolder(Path path) {
    this.path = path;
  }

  public Path path() {
    return path;
  }

  public Path journal() {
    return path.resolve("journal");
  }

  /** The configuration with every key. */
  public Path resolved() {
    return path.resolve("resolved.yaml");
  }

  /** The skills that a language model has discovered; absent where none has. */
  Path skills() {
    return path.resolve("skills.json");
  }

  Path base(long seed) {
    return path.resolve("base").resolve("seed_" + seed);
  }

  Path iteration(int trial, GymPlan.Planned planned, int iteration) {
    return trial(trial, planned).resolve("iteration_" + iteration);
  }

  Path trial(int trial, GymPlan.Planned planned) {
    return path.resolve("trial_%02d_%s_%d".formatted(trial, planned.arm(), planned.seed()));
  }

  /**
   * Writes what an agent knew when it made an iteration's rows: its former steps and its trees, an
   * object a line. The journal is what a gym resumes from.
   */
  static void writeAgent(Path iteration, TrialState state) throws IOException {
    Path outputs = iteration.resolve("data_strategy_outputs");
    List<ObjectNode> steps = new ArrayList<>();
    state.steps().forEach(step -> steps.add(GymJson.LINE.valueToTree(step)));
    List<ObjectNode> trees = new ArrayList<>();
    state.trees().forEach(tree -> trees.add(GymJson.LINE.valueToTree(tree)));
    String _ = write(outputs.resolve("past_experiences.jsonl"), text(steps));
    String _ = write(outputs.resolve("current_experiences.jsonl"), text(trees));
  }

  private static String prefix(Split split) {
    return split == Split.TEST ? "test" : "val";
  }

  private static Path answersFile(Path iteration, Split split) {
    return iteration.resolve("completed_%s_task_instances.jsonl".formatted(prefix(split)));
  }

  /** Writes a file, and returns the digest of its bytes. */
  static String write(Path file, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try {
      Files.createDirectories(file.resolveSibling("."));
      AtomicFile.replace(file, bytes);
      return Sha256.hex(bytes);
    } catch (IOException failure) {
      throw DiskFailureException.explain("write", file, failure);
    }
  }

  /** Writes answers and report of a split, and returns the digest of the answers. */
  static String writeAnswers(
      Path iteration, Split split, String task, List<AnsweredItem> answers, GymReport report)
      throws IOException {
    List<ObjectNode> lines = new ArrayList<>();
    for (AnsweredItem each : answers) {
      ObjectNode line = GymJson.LINE.createObjectNode();
      ObjectNode item = line.putObject("task_instance");
      item.put("task_name", task);
      item.put("instance_id", each.item().id());
      item.put("instruction", each.item().prompt());
      item.put("ground_truth_label", each.item().answer());
      item.put("skill", each.item().leaf());
      line.put("predictor_response", each.response());
      line.put("was_correct", each.correct());
      lines.add(line);
    }
    String digest = write(answersFile(iteration, split), text(lines));
    String _ =
        write(
            iteration.resolve(prefix(split) + "_performance_reports.jsonl"),
            text(List.of(report(task, report))));
    return digest;
  }

  private static ObjectNode report(String task, GymReport report) {
    ObjectNode node = GymJson.LINE.createObjectNode();
    node.put("task_name", task);
    node.put("overall_performance", report.overall().accuracy());
    var slices = node.putArray("slices");
    for (SkillSlice skill : report.skills()) {
      ObjectNode parent = slice(skill, skill.name());
      var children = parent.putArray("children");
      for (SkillSlice leaf : report.leaves()) {
        if (leaf.name().startsWith(skill.name() + "/")) {
          ObjectNode child = slice(leaf, leaf.name().substring(skill.name().length() + 1));
          child.putArray("children");
          children.add(child);
        }
      }
      slices.add(parent);
    }
    return node;
  }

  private static ObjectNode slice(SkillSlice slice, String relative) {
    ObjectNode node = GymJson.LINE.createObjectNode();
    node.put("slice_name", slice.name());
    node.put("slice_relname", relative);
    node.put("metric_name", "accuracy");
    node.put("metric_value", slice.accuracy());
    node.put("count", slice.count());
    return node;
  }

  /** Reads the answers of a split, in the order of its items. */
  static List<AnsweredItem> readAnswers(Path iteration, Split split, List<GymItem> items)
      throws IOException {
    Map<String, JsonNode> lines = new HashMap<>();
    Path file = answersFile(iteration, split);
    for (JsonNode line : lines(file)) {
      lines.put(line.path("task_instance").path("instance_id").asText(), line);
    }
    List<AnsweredItem> answers = new ArrayList<>();
    for (GymItem item : items) {
      JsonNode line = lines.get(item.id());
      if (line == null) {
        throw new IOException(
            "%s has no answer to the item %s, which the task has; the task has changed since"
                .formatted(file, item.id()));
      }
      answers.add(
          new AnsweredItem(
              item,
              line.path("predictor_response").asText(),
              line.path("was_correct").asBoolean()));
    }
    return answers;
  }

  /** Writes rows, and returns the digest of the file. */
  static String writeRows(Path file, List<TrainingRow> rows) throws IOException {
    return write(file, text(rows.stream().map(row -> line(row, "", "")).toList()));
  }

  /** Returns the line of a row; reason and detail are left out where they are empty. */
  static ObjectNode line(TrainingRow row, String reason, String detail) {
    ObjectNode line = GymJson.LINE.createObjectNode();
    line.put("id", row.id());
    line.put("item", row.item().id());
    line.put("instruction", row.item().prompt());
    line.put("response", row.response());
    line.put("answer", row.item().answer());
    line.put("skill", row.item().skill());
    line.put("subskill", row.item().subskill());
    if (!reason.isEmpty()) {
      line.put("reason", reason);
      line.put("detail", detail);
    }
    return line;
  }

  static List<TrainingRow> readRows(Path file) throws IOException {
    List<TrainingRow> rows = new ArrayList<>();
    for (JsonNode line : lines(file)) {
      rows.add(
          new TrainingRow(
              line.path("id").asText(),
              new GymItem(
                  line.path("item").asText(),
                  line.path("skill").asText(),
                  line.path("subskill").asText(),
                  line.path("instruction").asText(),
                  line.path("answer").asText()),
              line.path("response").asText()));
    }
    return rows;
  }

  private static List<JsonNode> lines(Path file) throws IOException {
    List<JsonNode> nodes = new ArrayList<>();
    int number = 0;
    for (String line : Files.readAllLines(file)) {
      number++;
      try {
        nodes.add(GymJson.LINE.readTree(line));
      } catch (JsonProcessingException damaged) {
        throw new IOException(
            "%s, line %d is no JSON: %s".formatted(file, number, damaged.getOriginalMessage()));
      }
    }
    return nodes;
  }

  static String text(List<ObjectNode> lines) {
    StringBuilder text = new StringBuilder();
    lines.forEach(line -> text.append(line).append('\n'));
    return text.toString();
  }
}
