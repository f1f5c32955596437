package io.troupe.tasks.results;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.reward.PassMark;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowFiles;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Reads what was measured of prompts. A place is one of
 *
 * <ul>
 *   <li>the folder of an evaluation: {@code results.jsonl}, with {@code completions.jsonl} and
 *       {@code prompts.jsonl} beside it;
 *   <li>the folder of a run: {@code traces/rollouts.jsonl};
 *   <li>a file of such lines, or of lines as {@code troupe verify} writes them: one a completion
 *       with {@code id} and {@code reward}, or one a prompt with {@code id} and {@code pass_rate};
 *   <li>the folder or file of pass@k results that name {@code prompt_id} and {@code scores}: {@code
 *       verification_results.jsonl}, or {@code all_verification_results.jsonl} of several shards,
 *       with prompts in {@code completions.jsonl} beside it.
 * </ul>
 *
 * <p>A completion whose {@code outcome} is not {@code scored}, or whose reward is null, was not
 * judged: it is no failure.
 */
public final class ResultFiles {
  private static final String RESULTS = "results.jsonl";
  private static final String COMPLETIONS = "completions.jsonl";
  private static final String PROMPTS = "prompts.jsonl";
  private static final List<String> PASS_AT_K =
      List.of("all_verification_results.jsonl", "verification_results.jsonl");
  private static final Path ROLLOUTS = Path.of("traces", "rollouts.jsonl");
  private static final Path OLDER_ROLLOUTS = Path.of("traces", "rollouts.1.jsonl");

  private final String task;
  private final PassMark mark;
  private final Map<String, PromptResults> byId = new LinkedHashMap<>();

  private ResultFiles(String task, PassMark mark) {
    this.task = task;
    this.mark = mark;
  }

  /**
   * Reads places, each after the other.
   *
   * @param task of an evaluation, whose lines are taken alone; empty takes those of all
   * @param mark by which a completion passes where its line does not say whether it did
   * @throws TaskDataException if a place holds no results, or lines are bad; the message names them
   */
  public static StoredResults read(List<Path> places, String task, PassMark mark)
      throws IOException {
    ResultFiles files = new ResultFiles(task, mark);
    for (Path place : places) {
      files.read(place);
    }
    return new StoredResults(files.byId);
  }

  private void read(Path place) throws IOException {
    if (!Files.isDirectory(place)) {
      RowFiles.read(List.of(place), this::row);
    } else if (Files.isRegularFile(place.resolve(RESULTS))) {
      evaluation(place);
    } else if (passAtK(place).isPresent()) {
      RowFiles.read(List.of(passAtK(place).get()), this::row);
      if (Files.isRegularFile(place.resolve(COMPLETIONS))) {
        RowFiles.read(List.of(place.resolve(COMPLETIONS)), this::askedThere);
      }
    } else if (Files.isRegularFile(place.resolve(ROLLOUTS))) {
      RowFiles.read(
          Stream.of(OLDER_ROLLOUTS, ROLLOUTS)
              .map(place::resolve)
              .filter(Files::isRegularFile)
              .toList(),
          this::row);
    } else {
      throw new TaskDataException(
          "%s holds no results: an evaluation's folder has %s, a run's %s, unless recording.traces is -1, and one of pass@k %s; name one of these, or a file"
              .formatted(place, RESULTS, ROLLOUTS, String.join(" or ", PASS_AT_K)));
    }
  }

  private static Optional<Path> passAtK(Path folder) {
    return PASS_AT_K.stream().map(folder::resolve).filter(Files::isRegularFile).findFirst();
  }

  private void evaluation(Path folder) throws IOException {
    Set<String> passed = new HashSet<>();
    RowFiles.read(
        List.of(folder.resolve(RESULTS)),
        row -> {
          if (ofTask(row) && completion(row)) {
            passed.add(sample(row));
          }
        });
    if (Files.isRegularFile(folder.resolve(COMPLETIONS))) {
      RowFiles.read(
          List.of(folder.resolve(COMPLETIONS)),
          row -> {
            if (passed.contains(sample(row))) {
              correct(row.scalar("id"), row.textOrEmpty("completion"));
            }
          });
    }
    if (Files.isRegularFile(folder.resolve(PROMPTS))) {
      RowFiles.read(
          List.of(folder.resolve(PROMPTS)),
          row -> {
            if (byId.containsKey(row.scalar("id"))) {
              asked(row.scalar("id"), row.textOrEmpty("prompt"), row.textOrEmpty("source"));
            }
          });
    }
  }

  private boolean ofTask(Row row) throws RowException {
    return task.isEmpty() || row.textOrEmpty("task").equals(task) || !row.has("task");
  }

  private static String sample(Row row) throws RowException {
    return row.textOrEmpty("task")
        + "\0"
        + row.fields().path("sample").asLong()
        + "\0"
        + row.scalar("id");
  }

  private void row(Row row) throws RowException {
    if (row.has("rewards")) {
      group(row, "rewards");
    } else if (row.has("scores")) {
      group(row, "scores");
    } else if (row.has("num_completions")) {
      counted(row);
    } else if (row.has("pass_rate")) {
      double rate = number(row, "pass_rate");
      change(row.scalar("id"), known -> known.scored(rate, PassMark.FULL.passes(rate)));
    } else if (ofTask(row) && completion(row)) {
      correct(row.scalar("id"), row.textOrEmpty("completion"));
    }
  }

  /** Counts a line of one completion, and says whether it passes. */
  private boolean completion(Row row) throws RowException {
    String id = row.scalar("id");
    String outcome = row.textOrEmpty("outcome");
    if (!outcome.isEmpty() && !outcome.equals("scored")) {
      change(id, PromptResults::unscored);
      return false;
    }
    double reward = number(row, "reward");
    JsonNode said = row.fields().path("passed");
    boolean full = said.isBoolean() ? said.booleanValue() : mark.passes(reward);
    change(id, known -> known.scored(reward, full));
    return full;
  }

  /**
   * Completions of one prompt, each a text or an object with one. The last answer of an episode
   * with tools is not all that was sampled.
   */
  private void group(Row row, String key) throws RowException {
    String id = row.scalar("prompt_id");
    JsonNode rewards = row.fields().path(key);
    JsonNode completions = row.fields().path("completions");
    if (!rewards.isArray()) {
      throw row.bad(key, "must be a list of numbers");
    }
    for (int i = 0; i < rewards.size(); i++) {
      JsonNode reward = rewards.path(i);
      if (reward.isNull()) {
        change(id, PromptResults::unscored);
        continue;
      }
      if (!reward.isNumber()) {
        throw row.bad(key, "must be a list of numbers");
      }
      JsonNode said = row.fields().path("passed").path(i);
      boolean full = said.isBoolean() ? said.booleanValue() : mark.passes(reward.doubleValue());
      change(id, known -> known.scored(reward.doubleValue(), full));
      if (full && !row.has("episodes")) {
        JsonNode completion = completions.path(i);
        correct(id, completion.path("text").asText(completion.asText("")));
      }
    }
    askedThere(row);
  }

  /** Counts a prompt's completions that are right. */
  private void counted(Row row) throws RowException {
    String id = row.scalar("prompt_id");
    int all = count(row, "num_completions");
    int right = count(row, "num_correct");
    if (right > all) {
      throw row.bad("num_correct", "must be at most num_completions, " + all);
    }
    for (int i = 0; i < all; i++) {
      boolean full = i < right;
      change(id, known -> known.scored(full ? 1 : 0, full));
    }
    askedThere(row);
  }

  private static int count(Row row, String key) throws RowException {
    JsonNode value = row.fields().path(key);
    if (!value.isInt() || value.intValue() < 0) {
      throw row.bad(key, "must be a number, 0 or greater");
    }
    return value.intValue();
  }

  /** Takes the text of a prompt that was measured, where the line holds it. */
  private void askedThere(Row row) throws RowException {
    String id = row.scalar("prompt_id");
    String prompt = row.textOrEmpty("prompt");
    if (byId.containsKey(id) && !prompt.isEmpty()) {
      String source = row.textOrEmpty("source");
      asked(id, prompt, source.isEmpty() ? row.textOrEmpty("dataset") : source);
    }
  }

  private void correct(String id, String completion) {
    if (!completion.isEmpty()) {
      change(id, known -> known.withCorrect(completion));
    }
  }

  private void asked(String id, String prompt, String source) {
    change(id, known -> known.asked(prompt, source));
  }

  private void change(String id, UnaryOperator<PromptResults> by) {
    byId.put(id, by.apply(byId.getOrDefault(id, PromptResults.NONE)));
  }

  private static double number(Row row, String key) throws RowException {
    if (!row.fields().path(key).isNumber()) {
      throw row.bad(key, "must be a number");
    }
    return row.fields().path(key).doubleValue();
  }
}
