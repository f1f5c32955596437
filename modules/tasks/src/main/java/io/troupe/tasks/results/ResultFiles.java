package io.troupe.tasks.results;

import com.fasterxml.jackson.databind.JsonNode;
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
 *       with {@code id} and {@code reward}, or one a prompt with {@code id} and {@code pass_rate}.
 * </ul>
 *
 * <p>A completion whose {@code outcome} is not {@code scored}, or whose reward is null, was not
 * judged: it is no failure.
 */
public final class ResultFiles {
  private static final double CORRECT = 1 - 1e-6;
  private static final String RESULTS = "results.jsonl";
  private static final String COMPLETIONS = "completions.jsonl";
  private static final String PROMPTS = "prompts.jsonl";
  private static final Path ROLLOUTS = Path.of("traces", "rollouts.jsonl");
  private static final Path OLDER_ROLLOUTS = Path.of("traces", "rollouts.1.jsonl");

  private final String task;
  private final Map<String, PromptResults> byId = new LinkedHashMap<>();

  private ResultFiles(String task) {
    this.task = task;
  }

  /**
   * Reads places, each after the other.
   *
   * @param task of an evaluation, whose lines are taken alone; empty takes those of all
   * @throws TaskDataException if a place holds no results, or lines are bad; the message names them
   */
  public static StoredResults read(List<Path> places, String task) throws IOException {
    ResultFiles files = new ResultFiles(task);
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
    } else if (Files.isRegularFile(place.resolve(ROLLOUTS))) {
      RowFiles.read(
          Stream.of(OLDER_ROLLOUTS, ROLLOUTS)
              .map(place::resolve)
              .filter(Files::isRegularFile)
              .toList(),
          this::row);
    } else {
      throw new TaskDataException(
          "%s holds no results: an evaluation's folder has %s, and a run's %s, unless recording.traces is false; name one of these, or a file"
              .formatted(place, RESULTS, ROLLOUTS));
    }
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
      group(row);
    } else if (row.has("pass_rate")) {
      double rate = number(row, "pass_rate");
      change(row.scalar("id"), known -> known.scored(rate, rate >= CORRECT));
    } else if (ofTask(row) && completion(row)) {
      correct(row.scalar("id"), row.textOrEmpty("completion"));
    }
  }

  /** Counts a line of one completion, and says whether it has the full reward. */
  private boolean completion(Row row) throws RowException {
    String id = row.scalar("id");
    String outcome = row.textOrEmpty("outcome");
    if (!outcome.isEmpty() && !outcome.equals("scored")) {
      change(id, PromptResults::unscored);
      return false;
    }
    double reward = number(row, "reward");
    JsonNode said = row.fields().path("passed");
    boolean full = said.isBoolean() ? said.booleanValue() : reward >= CORRECT;
    change(id, known -> known.scored(reward, full));
    return full;
  }

  /** A group of a run. The last answer of an episode with tools is not all that was sampled. */
  private void group(Row row) throws RowException {
    String id = row.scalar("prompt_id");
    JsonNode rewards = row.fields().path("rewards");
    JsonNode completions = row.fields().path("completions");
    if (!rewards.isArray()) {
      throw row.bad("rewards", "must be a list of numbers");
    }
    for (int i = 0; i < rewards.size(); i++) {
      JsonNode reward = rewards.path(i);
      if (reward.isNull()) {
        change(id, PromptResults::unscored);
        continue;
      }
      if (!reward.isNumber()) {
        throw row.bad("rewards", "must be a list of numbers");
      }
      boolean full = reward.doubleValue() >= CORRECT;
      change(id, known -> known.scored(reward.doubleValue(), full));
      if (full && !row.has("episodes")) {
        correct(id, completions.path(i).asText(""));
      }
    }
    asked(id, row.textOrEmpty("prompt"), row.textOrEmpty("source"));
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
