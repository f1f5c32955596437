package io.troupe.run.console;

import io.troupe.console.http.ApiException;
import io.troupe.console.source.StepExplanations;
import io.troupe.run.replay.ReplayRefusedException;
import io.troupe.run.replay.StepExplanation;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The explanations of a run's steps, read from its folder one step at a time. The last step is
 * kept: a page asks for it again with each row that is opened, and a journal is long.
 */
final class JournalledSteps implements StepExplanations {
  private static final int NOT_FOUND = 404;

  private final RunFolder folder;
  private long step;
  private List<Map<String, Object>> rows = List.of();

  JournalledSteps(RunFolder folder) {
    this.folder = folder;
  }

  @Override
  public synchronized List<Map<String, Object>> of(long asked) throws ApiException, IOException {
    if (asked != step || rows.isEmpty()) {
      try {
        StepExplanation explanation = StepExplanation.of(folder, asked);
        rows = IntStream.range(0, explanation.rows()).mapToObj(explanation::row).toList();
        step = asked;
      } catch (ReplayRefusedException refused) {
        throw new ApiException(NOT_FOUND, String.valueOf(refused.getMessage()));
      }
    }
    return rows;
  }
}
