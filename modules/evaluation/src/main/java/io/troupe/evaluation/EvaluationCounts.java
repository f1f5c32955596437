package io.troupe.evaluation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.troupe.core.evaluation.PromptTally;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The counts from which the summary of an evaluation is computed: one tally a prompt, and how often
 * checks passed. They are counted as samples are judged, or read from an evaluation's files line by
 * line; both give the same.
 */
final class EvaluationCounts {
  /** The number of times that checks of one name passed. */
  record CheckCount(long checks, long passed, long loosely) {
    static final CheckCount NONE = new CheckCount(0, 0, 0);

    CheckCount plus(boolean passes, boolean passesLoosely) {
      return new CheckCount(
          checks + 1, passed + (passes ? 1 : 0), loosely + (passesLoosely ? 1 : 0));
    }
  }

  /** A prompt with the values by which the summary is broken down. */
  static final class PromptCount {
    private final Map<String, String> facets;
    private PromptTally tally = PromptTally.NONE;

    PromptCount(Map<String, String> facets) {
      this.facets = facets;
    }

    Map<String, String> facets() {
      return facets;
    }

    PromptTally tally() {
      return tally;
    }
  }

  /** The prompts and checks of a task. */
  static final class TaskCount {
    private final Map<String, PromptCount> prompts = new LinkedHashMap<>();
    private final SortedMap<String, CheckCount> checks = new TreeMap<>();

    Iterable<PromptCount> prompts() {
      return prompts.values();
    }

    SortedMap<String, CheckCount> checks() {
      return checks;
    }

    private void check(String name, boolean passes, boolean passesLoosely) {
      checks.merge(
          name,
          CheckCount.NONE.plus(passes, passesLoosely),
          (known, _) -> known.plus(passes, passesLoosely));
    }
  }

  private final Map<String, TaskCount> tasks = new LinkedHashMap<>();
  private final Map<Map<String, String>, Map<String, String>> sharedFacets = new LinkedHashMap<>();

  private EvaluationCounts(List<String> names) {
    names.forEach(name -> tasks.put(name, new TaskCount()));
  }

  /** The counts of an evaluation of which no sample is judged yet. */
  static EvaluationCounts before(EvaluationProtocol protocol) {
    EvaluationCounts counts =
        new EvaluationCounts(protocol.tasks().stream().map(EvaluationTask::name).toList());
    for (EvaluationTask task : protocol.tasks()) {
      TaskCount count = counts.of(task.name()).orElseThrow();
      for (EvaluationItem item : protocol.items(task)) {
        Map<String, String> facets = new TreeMap<>(item.facets());
        facets.put("source", item.prompt().source());
        counts.add(count, item.id(), facets);
      }
    }
    return counts;
  }

  /** Counts a sample. */
  void judged(EvaluationTask task, EvaluationItem item, Answer answer, Verdict verdict) {
    TaskCount count = of(task.name()).orElseThrow();
    PromptCount prompt = Optional.ofNullable(count.prompts.get(item.id())).orElseThrow();
    switch (verdict) {
      case Verdict.Scored scored -> {
        prompt.tally = prompt.tally.judged(scored.reward(), scored.passed(), answer.truncated());
        for (Check check : scored.checks()) {
          count.check(check.name(), check.passed(), check.passedLoosely());
        }
      }
      case Verdict.Unverifiable _ -> prompt.tally = prompt.tally.unjudged(answer.truncated());
    }
  }

  /** The counts of what an evaluation's files hold. */
  static EvaluationCounts read(EvaluationFolder folder, JsonNode protocol) throws IOException {
    EvaluationCounts counts = new EvaluationCounts(EvaluationFolder.tasks(protocol));
    String only = counts.tasks.size() == 1 ? counts.tasks.keySet().iterator().next() : "";
    counts.readPrompts(folder, only);
    counts.readSamples(folder, only);
    return counts;
  }

  Optional<TaskCount> of(String task) {
    return Optional.ofNullable(tasks.get(task));
  }

  private void add(TaskCount task, String id, Map<String, String> facets) {
    task.prompts.put(id, new PromptCount(sharedFacets.computeIfAbsent(facets, Map::copyOf)));
  }

  private void readPrompts(EvaluationFolder folder, String only) throws IOException {
    try (MappingIterator<JsonNode> lines = lines(folder.prompts())) {
      while (lines.hasNextValue()) {
        JsonNode prompt = lines.nextValue();
        Map<String, String> facets = new TreeMap<>();
        prompt
            .path("facets")
            .properties()
            .forEach(facet -> facets.put(facet.getKey(), facet.getValue().asText()));
        facets.put("source", prompt.path("source").asText());
        add(named(only, prompt, folder.prompts()), prompt.path("id").asText(), facets);
      }
    }
  }

  private static MappingIterator<JsonNode> lines(Path file) throws IOException {
    return EvaluationLines.JSON.readerFor(JsonNode.class).readValues(file.toFile());
  }

  private TaskCount named(String only, JsonNode line, Path file) throws IOException {
    String task = line.path("task").asText(only);
    return of(task)
        .orElseThrow(
            () ->
                new IOException(
                    "%s names the task '%s', which the protocol has not".formatted(file, task)));
  }

  private void readSamples(EvaluationFolder folder, String only) throws IOException {
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
        TaskCount task = named(only, result, folder.results());
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
          task.check(
              check.path("name").asText(),
              check.path("passed").asBoolean(),
              check.path("passed_loosely").asBoolean());
        }
      }
    }
  }
}
