package io.troupe.tasks.sets;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowJson;
import java.util.List;
import java.util.Locale;

/**
 * Short Python functions and asserts about them (Austin et al. 2021, "Program Synthesis with Large
 * Language Models"), whole or hand-checked ("sanitized").
 *
 * <ul>
 *   <li>Question: the benchmark's own sentence, the first three tests, and {@code [BEGIN]}.
 *   <li>Answer: {@code tests}, all tests, and {@code setup}, the code that runs before the tests;
 *       may be empty.
 *   <li>Solution: the program with LF line ends, and {@code [DONE]} on a line of its own.
 *   <li>Id: {@code mbpp_} and the task id. Facet: {@code split}, which the task id determines.
 * </ul>
 */
final class MbppRows implements RowFormat {
  private static final int TESTS_SHOWN = 3;
  private static final int LAST_PROMPT = 10;
  private static final int LAST_TEST = 510;
  private static final int LAST_VALIDATION = 600;
  private static final int LAST_TRAIN = 974;

  /** The parts of the benchmark, by task id: 1–10, 11–510, 511–600, 601–974. */
  enum Split {
    PROMPT,
    TEST,
    VALIDATION,
    TRAIN;

    static Split of(int taskId) {
      return taskId <= LAST_PROMPT
          ? PROMPT
          : taskId <= LAST_TEST ? TEST : taskId <= LAST_VALIDATION ? VALIDATION : TRAIN;
    }
  }

  @Override
  public RowOutcome read(Row row) throws RowException {
    int taskId = row.fields().path("task_id").asInt(-1);
    if (taskId < 1 || taskId > LAST_TRAIN) {
      throw row.bad("task_id", "must be a whole number from 1 to " + LAST_TRAIN);
    }
    List<String> tests = row.texts("test_list");
    if (tests.isEmpty()) {
      throw row.bad("test_list", "must hold a test, or anything would pass");
    }
    String text = row.text(row.has("text") ? "text" : "prompt");
    String setup =
        row.has("test_imports")
            ? String.join("\n", row.texts("test_imports"))
            : unix(row.textOrEmpty("test_setup_code"));
    ObjectNode answer = RowJson.object();
    tests.forEach(answer.putArray("tests")::add);
    answer.put("setup", setup);
    return new RowOutcome.Taken(
        DataItem.of(
                "mbpp_" + taskId,
                question(text, tests),
                answer.toString(),
                unix(row.text("code")).stripTrailing() + "\n[DONE]")
            .with("split", Split.of(taskId).name().toLowerCase(Locale.ROOT)));
  }

  private static String question(String text, List<String> tests) {
    return "You are an expert Python programmer, and here is your task: "
        + text
        + " Your code should pass these tests:\n\n"
        + String.join("\n", tests.subList(0, Math.min(TESTS_SHOWN, tests.size())))
        + "\n[BEGIN]\n";
  }

  private static String unix(String code) {
    return code.replace("\r\n", "\n");
  }
}
