package io.troupe.evaluation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.core.evaluation.Estimate;
import io.troupe.core.evaluation.PromptTally;
import io.troupe.core.evaluation.TaskScores;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Computes the summary of an evaluation from its counts and its protocol. */
public final class SummaryWriter {
  private final EvaluationFolder folder;

  public SummaryWriter(EvaluationFolder folder) {
    this.folder = folder;
  }

  /** Writes {@code summary.json} from what the files hold. */
  public void write(Instant ended) throws IOException {
    ObjectNode protocol = folder.protocol();
    write(ended, protocol, EvaluationCounts.read(folder, protocol));
  }

  /** Writes {@code summary.json} from what was counted while the files were written. */
  void write(Instant ended, EvaluationCounts counts) throws IOException {
    write(ended, folder.protocol(), counts);
  }

  private void write(Instant ended, ObjectNode protocol, EvaluationCounts counts)
      throws IOException {
    Instant started = Instant.parse(protocol.path("started").asText());
    protocol.put("ended", ended.toString());
    protocol.put("seconds", Math.max(0, Duration.between(started, ended).toMillis()) / 1000.0);
    ObjectNode summary = EvaluationLines.JSON.createObjectNode();
    summary.set("protocol", protocol);
    summary.set("tasks", tasks(protocol, counts));
    AtomicFile.replace(folder.summary(), EvaluationFolder.pretty(summary));
  }

  /** The scores of every task so far. */
  public ArrayNode tasks() throws IOException {
    ObjectNode protocol = folder.protocol();
    return tasks(protocol, EvaluationCounts.read(folder, protocol));
  }

  private static ArrayNode tasks(ObjectNode protocol, EvaluationCounts counts) {
    SortedSet<Integer> ks = new TreeSet<>();
    protocol.path("k").forEach(k -> ks.add(k.asInt()));
    ArrayNode tasks = EvaluationLines.JSON.createArrayNode();
    for (JsonNode task : protocol.path("tasks")) {
      String name = task.path("task").asText();
      SortedSet<Integer> own = ks.headSet(task.path("samples").asInt() + 1);
      tasks.add(task(name, counts.of(name).orElseThrow(), own));
    }
    return tasks;
  }

  private static ObjectNode task(
      String name, EvaluationCounts.TaskCount count, SortedSet<Integer> ks) {
    ObjectNode node = EvaluationLines.JSON.createObjectNode().put("task", name);
    List<PromptTally> all = new ArrayList<>();
    count.prompts().forEach(prompt -> all.add(prompt.tally()));
    TaskScores ofAll = TaskScores.of(all, ks);
    put(node, ofAll);
    ObjectNode by = node.putObject("by");
    SortedMap<String, SortedMap<String, List<PromptTally>>> groups = new TreeMap<>();
    for (EvaluationCounts.PromptCount prompt : count.prompts()) {
      prompt
          .facets()
          .forEach(
              (facet, value) ->
                  groups
                      .computeIfAbsent(facet, _ -> new TreeMap<>())
                      .computeIfAbsent(value, _ -> new ArrayList<>())
                      .add(prompt.tally()));
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
    if (!count.checks().isEmpty()) {
      ObjectNode instructions = by.putObject("instruction");
      count
          .checks()
          .forEach(
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
