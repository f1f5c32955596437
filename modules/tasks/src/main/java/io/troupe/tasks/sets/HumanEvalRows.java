package io.troupe.tasks.sets;

import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowJson;

/**
 * Python functions to be written below their signature and docstring (Chen et al. 2021, "Evaluating
 * Large Language Models Trained on Code").
 *
 * <p>The question is the unchanged prompt, the answer holds {@code prompt}, {@code test} and {@code
 * entry_point}, the solution is the canonical one, the id is the task id: {@code HumanEval/0}.
 */
final class HumanEvalRows implements RowFormat {
  @Override
  public RowOutcome read(Row row) throws RowException {
    String prompt = row.text("prompt");
    String answer =
        RowJson.object()
            .put("prompt", prompt)
            .put("test", row.text("test"))
            .put("entry_point", row.text("entry_point"))
            .toString();
    return new RowOutcome.Taken(
        DataItem.of(row.text("task_id"), prompt, answer, row.textOrEmpty("canonical_solution")));
  }
}
