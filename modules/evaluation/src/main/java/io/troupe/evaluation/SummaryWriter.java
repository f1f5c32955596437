package io.troupe.evaluation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.core.evaluation.Estimate;
import io.troupe.core.evaluation.PromptTally;
import io.troupe.core.evaluation.TaskScores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Computes the summary of an evaluation from its files alone. It reads them line by line and keeps
 * one tally a prompt.
 */
public final class SummaryWriter {
  /** How often checks of one name passed. */
  private record CheckCount(long checks, long passed, long loosely) {
    static final CheckCount NONE = new CheckCount(0, 0, 0);

    CheckCount plus(JsonNode check) {
      return new CheckCount(
          checks + 1,
          passed + (check.path("passed").asBoolean() ? 1 : 0),
          loosely + (check.path("passed_loosely").asBoolean() ? 1 : 0));
    }
  }

  /** A prompt with the values by which the summary is broken down. */
  private static final class PromptCount {
    private final Map<String, String> facets;
    private PromptTally tally = PromptTally.NONE;

    PromptCount(Map<String, String> facets) {
      this.facets = facets;
    }
  }

  private static final class TaskCount {
    private final Map<String, PromptCount> prompts = new LinkedHashMap<>();
    private final SortedMap<String, CheckCount> checks = new TreeMap<>();
  }

  private final EvaluationFolder folder;

  public SummaryWriter(EvaluationFolder folder) {
    this.folder = folder;
  }

  /** Writes {@code summary.json}. */
  public void write(Instant ended) throws IOException {
    ObjectNode protocol = folder.protocol();
    Instant started = Instant.parse(protocol.path("started").asText());
    protocol.put("ended", ended.toString());
    protocol.put("seconds", Math.max(0, Duration.between(started, ended).toMillis()) / 1000.0);
    ObjectNode summary = EvaluationLines.JSON.createObjectNode();
    summary.set("protocol", protocol);
    summary.set("tasks", tasks(protocol));
    AtomicFile.replace(folder.summary(), EvaluationFolder.pretty(summary));
  }

  /** The scores of every task so far. */
  public ArrayNode tasks() throws IOException {
    return tasks(folder.protocol());
  }

  private ArrayNode tasks(ObjectNode protocol) throws IOException {
    Map<String, TaskCount> counts = new LinkedHashMap<>();
    EvaluationFolder.tasks(protocol).forEach(task -> counts.put(task, new TaskCount()));
    String only = counts.size() == 1 ? counts.keySet().iterator().next() : "";
    readPrompts(counts, only);
    readSamples(counts, only);
    SortedSet<Integer> ks = new TreeSet<>();
    protocol.path("k").forEach(k -> ks.add(k.asInt()));
    ArrayNode tasks = EvaluationLines.JSON.createArrayNode();
    for (JsonNode task : protocol.path("tasks")) {
      String name = task.path("task").asText();
      SortedSet<Integer> own = ks.headSet(task.path("samples").asInt() + 1);
      tasks.add(task(name, Objects.requireNonNull(counts.get(name)), own));
    }
    return tasks;
  }

  private void readPrompts(Map<String, TaskCount> counts, String only) throws IOException {
    Map<Map<String, String>, Map<String, String>> shared = new LinkedHashMap<>();
    try (MappingIterator<JsonNode> lines = lines(folder.prompts())) {
      while (lines.hasNextValue()) {
        JsonNode prompt = lines.nextValue();
        Map<String, String> facets = new TreeMap<>();
        prompt
            .path("facets")
            .properties()
            .forEach(facet -> facets.put(facet.getKey(), facet.getValue().asText()));
        facets.put("source", prompt.path("source").asText());
        count(counts, only, prompt, folder.prompts())
            .prompts
            .put(
                prompt.path("id").asText(),
                new PromptCount(shared.computeIfAbsent(facets, Map::copyOf)));
      }
    }
  }

  private static MappingIterator<JsonNode> lines(Path file) throws IOException {
    return EvaluationLines.JSON.readerFor(JsonNode.class).readValues(file.toFile());
  }

  private static TaskCount count(
      Map<String, TaskCount> counts, String only, JsonNode line, Path file) throws IOException {
    String task = line.path("task").asText(only);
    TaskCount found = counts.get(task);
    if (found == null) {
      throw new IOException(
          "%s names the task '%s', which the protocol has not".formatted(file, task));
    }
    return found;
  }

  private void readSamples(Map<String, TaskCount> counts, String only) throws IOException {
    if (!Files.exists(folder.results())) {
      return;
    }
    try (MappingIterator<JsonNode> completions = lines(folder.completions());
        MappingIterator<JsonNode> results = lines(folder.results())) {
      long number = 0;
      while (results.hasNextValue()) {
        number++;
        JsonNode result = results.nextValue();
        JsonNode completion =
            completions.hasNextValue() ? completions.nextValue() : MissingNode.getInstance();
        TaskCount task = count(counts, only, result, folder.results());
        PromptCount prompt = task.prompts.get(result.path("id").asText());
        if (prompt == null
            || !completion.path("id").equals(result.path("id"))
            || !completion.path("sample").equals(result.path("sample"))) {
          throw new IOException(
              "%s and %s differ in line %d; evaluate again with --resume"
                  .formatted(folder.completions(), folder.results(), number));
        }
        boolean cut = completion.path("finish").asText().equals(Answer.LENGTH);
        if (result.path("outcome").asText().equals(EvaluationLines.SCORED)) {
          prompt.tally =
              prompt.tally.judged(
                  result.path("reward").asDouble(), result.path("passed").asBoolean(), cut);
        } else {
          prompt.tally = prompt.tally.unjudged(cut);
        }
        for (JsonNode check : result.path("checks")) {
          task.checks.merge(
              check.path("name").asText(),
              CheckCount.NONE.plus(check),
              (known, _) -> known.plus(check));
        }
      }
    }
  }

  private static ObjectNode task(String name, TaskCount count, SortedSet<Integer> ks) {
    ObjectNode node = EvaluationLines.JSON.createObjectNode().put("task", name);
    List<PromptTally> all = count.prompts.values().stream().map(p -> p.tally).toList();
    TaskScores ofAll = TaskScores.of(all, ks);
    put(node, ofAll);
    ObjectNode by = node.putObject("by");
    SortedMap<String, SortedMap<String, List<PromptTally>>> groups = new TreeMap<>();
    for (PromptCount prompt : count.prompts.values()) {
      prompt.facets.forEach(
          (facet, value) ->
              groups
                  .computeIfAbsent(facet, _ -> new TreeMap<>())
                  .computeIfAbsent(value, _ -> new ArrayList<>())
                  .add(prompt.tally));
    }
    groups.forEach(
        (facet, values) -> {
          ObjectNode each = by.putObject(facet);
          values.forEach(
              (value, tallies) ->
                  put(
                      each.putObject(value),
                      tallies.size() == all.size() ? ofAll : TaskScores.of(tallies, ks)));
        });
    if (!count.checks.isEmpty()) {
      ObjectNode instructions = by.putObject("instruction");
      count.checks.forEach(
          (check, number) ->
              instructions
                  .putObject(check)
                  .put("checks", number.checks())
                  .put("avg", (double) number.passed() / number.checks())
                  .put("avg_loose", (double) number.loosely() / number.checks()));
    }
    return node;
  }

  private static void put(ObjectNode node, TaskScores scores) {
    node.put("prompts", scores.prompts()).put("samples", scores.samples());
    number(node, "avg", scores.average());
    ObjectNode pass = node.putObject("pass");
    scores.pass().forEach((k, estimate) -> number(pass, Integer.toString(k), estimate));
    interval(node, "interval", scores.average());
    ObjectNode intervals = node.putObject("pass_intervals");
    scores.pass().forEach((k, estimate) -> interval(intervals, Integer.toString(k), estimate));
    node.put("unverifiable", scores.unverifiable()).put("truncated", scores.truncatedShare());
  }

  private static void number(ObjectNode node, String name, Estimate estimate) {
    if (estimate.isPresent()) {
      node.put(name, estimate.value());
    } else {
      node.putNull(name);
    }
  }

  private static void interval(ObjectNode node, String name, Estimate estimate) {
    if (estimate.isPresent()) {
      node.putArray(name).add(estimate.low()).add(estimate.high());
    } else {
      node.putNull(name);
    }
  }
}
