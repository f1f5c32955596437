package io.troupe.evaluation;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.evaluation.Bootstrap;
import io.troupe.core.evaluation.Estimate;
import io.troupe.core.evaluation.McNemarTest;
import io.troupe.core.evaluation.SignFlipTest;
import io.troupe.core.reward.PassMark;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Compares two evaluations sample by sample, where both judged the same sample of a prompt. */
public final class EvaluationComparison {
  /** The field of a task's protocol that holds the reward with which a sample passes. */
  public static final String MARK = "pass_reward";

  /** A sample that passed in one evaluation and not in the other. */
  public record Flip(
      String task, String id, int sample, boolean firstPassed, String first, String second) {}

  /**
   * The comparison of one number.
   *
   * @param first mean over prompts of the mean of paired samples
   * @param difference of the second from the first, by prompt
   * @param pValue of no difference
   */
  public record Compared(Estimate first, Estimate second, Estimate difference, double pValue) {}

  /**
   * The comparison of one task.
   *
   * @param pairs samples that both judged
   * @param unpaired samples that only one of them judged
   * @param passed shares that pass, by McNemar's test
   * @param reward mean rewards, by a permutation test
   */
  public record TaskComparison(
      String task,
      int pairs,
      int unpaired,
      Compared passed,
      Compared reward,
      McNemarTest test,
      List<Flip> flips) {
    public TaskComparison {
      flips = List.copyOf(flips);
    }
  }

  private record SampleKey(String task, String id, int sample) {}

  private record SampleScore(double reward, boolean passed) {
    double pass() {
      return passed ? 1 : 0;
    }
  }

  /** Sums of one number of one prompt's paired samples. */
  private record PairSum(int pairs, double first, double second) {
    PairSum plus(PairSum other) {
      return new PairSum(pairs + other.pairs, first + other.first, second + other.second);
    }

    double difference() {
      return (second - first) / pairs;
    }

    double[] means() {
      return new double[] {first / pairs, second / pairs, difference()};
    }
  }

  private static final class TaskPairs {
    private final Map<String, PairSum> rewards = new LinkedHashMap<>();
    private final Map<String, PairSum> passes = new LinkedHashMap<>();
    private final List<SampleKey> flips = new ArrayList<>();
    private int pairs;
    private int unpaired;
    private int onlyFirst;
    private int onlySecond;
  }

  private final EvaluationFolder first;
  private final EvaluationFolder second;

  public EvaluationComparison(EvaluationFolder first, EvaluationFolder second) {
    this.first = first;
    this.second = second;
  }

  /**
   * Compares the tasks that both have, by name.
   *
   * @throws IOException if they have no task in common, or a file cannot be read
   */
  public List<TaskComparison> tasks() throws IOException {
    Map<SampleKey, SampleScore> known = scores(first);
    Map<SampleKey, SampleScore> other = scores(second);
    Map<String, TaskPairs> tasks = new LinkedHashMap<>();
    List<String> common = new ArrayList<>(EvaluationFolder.tasks(first.protocol()));
    common.retainAll(EvaluationFolder.tasks(second.protocol()));
    if (common.isEmpty()) {
      throw new IOException(
          "%s and %s have no task in common: %s and %s"
              .formatted(
                  first.path(),
                  second.path(),
                  EvaluationFolder.tasks(first.protocol()),
                  EvaluationFolder.tasks(second.protocol())));
    }
    common.forEach(task -> tasks.put(task, new TaskPairs()));
    known.forEach((key, score) -> pair(tasks, key, score, other));
    for (SampleKey key : other.keySet()) {
      TaskPairs task = tasks.get(key.task());
      if (task != null && !known.containsKey(key)) {
        task.unpaired++;
      }
    }
    List<SampleKey> flipped = tasks.values().stream().flatMap(t -> t.flips.stream()).toList();
    Map<SampleKey, String> firstTexts = texts(first, flipped);
    Map<SampleKey, String> secondTexts = texts(second, flipped);
    List<TaskComparison> compared = new ArrayList<>();
    tasks.forEach(
        (name, task) -> compared.add(comparison(name, task, known, firstTexts, secondTexts)));
    return compared;
  }

  private static void pair(
      Map<String, TaskPairs> tasks,
      SampleKey key,
      SampleScore score,
      Map<SampleKey, SampleScore> others) {
    TaskPairs task = tasks.get(key.task());
    SampleScore other = others.get(key);
    if (task == null) {
      return;
    }
    if (other == null) {
      task.unpaired++;
      return;
    }
    task.pairs++;
    task.rewards.merge(key.id(), new PairSum(1, score.reward(), other.reward()), PairSum::plus);
    task.passes.merge(key.id(), new PairSum(1, score.pass(), other.pass()), PairSum::plus);
    if (score.passed() != other.passed()) {
      task.flips.add(key);
      task.onlyFirst += score.passed() ? 1 : 0;
      task.onlySecond += other.passed() ? 1 : 0;
    }
  }

  private static TaskComparison comparison(
      String name,
      TaskPairs task,
      Map<SampleKey, SampleScore> known,
      Map<SampleKey, String> firstTexts,
      Map<SampleKey, String> secondTexts) {
    McNemarTest test = new McNemarTest(task.onlyFirst, task.onlySecond);
    return new TaskComparison(
        name,
        task.pairs,
        task.unpaired,
        compared(task.passes.values(), test.pValue()),
        compared(
            task.rewards.values(),
            SignFlipTest.pValue(
                task.rewards.values().stream().mapToDouble(PairSum::difference).toArray())),
        test,
        task.flips.stream()
            .map(
                key ->
                    new Flip(
                        name,
                        key.id(),
                        key.sample(),
                        Objects.requireNonNull(known.get(key)).passed(),
                        firstTexts.getOrDefault(key, ""),
                        secondTexts.getOrDefault(key, "")))
            .toList());
  }

  private static Compared compared(Collection<PairSum> prompts, double pValue) {
    List<Estimate> means = Bootstrap.means(prompts.stream().map(PairSum::means).toList(), 3);
    return new Compared(means.get(0), means.get(1), means.get(2), pValue);
  }

  /** The tasks whose samples pass by different marks, a sentence each. */
  public List<String> marks() throws IOException {
    Map<String, JsonNode> known = new HashMap<>();
    first.protocol().path("tasks").forEach(task -> known.put(task.path("task").asText(), task));
    List<String> notes = new ArrayList<>();
    for (JsonNode task : second.protocol().path("tasks")) {
      JsonNode other = known.get(task.path("task").asText());
      if (other != null && mark(other) != mark(task)) {
        notes.add(
            "%s: a sample passes with a reward of %s in A and of %s in B"
                .formatted(task.path("task").asText(), mark(other), mark(task)));
      }
    }
    return notes;
  }

  private static double mark(JsonNode task) {
    return task.path(MARK).asDouble(PassMark.FULL.reward());
  }

  private static SampleKey key(JsonNode line, String only) {
    return new SampleKey(
        line.path("task").asText(only), line.path("id").asText(), line.path("sample").asInt());
  }

  private static String onlyTask(EvaluationFolder folder) throws IOException {
    List<String> tasks = EvaluationFolder.tasks(folder.protocol());
    return tasks.size() == 1 ? tasks.getFirst() : "";
  }

  private static Map<SampleKey, SampleScore> scores(EvaluationFolder folder) throws IOException {
    Map<SampleKey, SampleScore> scores = new LinkedHashMap<>();
    String only = onlyTask(folder);
    try (BufferedReader lines = Files.newBufferedReader(existing(folder.results()))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode result = EvaluationLines.JSON.readTree(line);
        if (result.path("outcome").asText().equals(EvaluationLines.SCORED)) {
          scores.put(
              key(result, only),
              new SampleScore(result.path("reward").asDouble(), result.path("passed").asBoolean()));
        }
      }
    }
    return scores;
  }

  private static Map<SampleKey, String> texts(EvaluationFolder folder, List<SampleKey> wanted)
      throws IOException {
    Map<SampleKey, String> texts = new HashMap<>();
    wanted.forEach(key -> texts.put(key, ""));
    String only = onlyTask(folder);
    try (BufferedReader lines = Files.newBufferedReader(existing(folder.completions()))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode completion = EvaluationLines.JSON.readTree(line);
        texts.computeIfPresent(
            key(completion, only), (_, _) -> completion.path("completion").asText());
      }
    }
    return texts;
  }

  private static Path existing(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException(
          "%s is missing; the evaluation has not begun to sample".formatted(file));
    }
    return file;
  }
}
