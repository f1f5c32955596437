package io.troupe.console.source;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.train.TokenMarks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The loss's treatment of single tokens, read from {@code trained.jsonl} on request. Runs of
 * earlier versions have no such file.
 */
public final class TrainedTokens {
  private final JsonLineIndex lines;

  /** Marks of a file that may not be there. */
  public TrainedTokens(Path file) {
    lines = new JsonLineIndex(file, "step");
  }

  /**
   * The marks of a group's tokens in the step that trained on it. A resumed run may have made a
   * step more than once: the last time that it held this sampling of the group counts.
   *
   * @param fence of the lease that the tokens came under
   * @param completions of the group
   * @return one a completion; empty when the file does not say
   * @throws IOException if the file cannot be read
   */
  public List<TokenMarks> of(long step, long group, long fence, int completions)
      throws IOException {
    for (JsonNode line : lines.of(step).reversed()) {
      for (JsonNode trained : line.path("groups")) {
        if (trained.path("group").asLong() == group && trained.path("fence").asLong() == fence) {
          return trained.has("marks")
              ? marks(trained.path("marks"))
              : Collections.nCopies(completions, TokenMarks.NONE);
        }
      }
    }
    return List.of();
  }

  private static List<TokenMarks> marks(JsonNode completions) {
    List<TokenMarks> marks = new ArrayList<>();
    for (JsonNode one : completions) {
      marks.add(
          new TokenMarks(
              runs(one.path("low")),
              runs(one.path("high")),
              runs(one.path("cut")),
              runs(one.path("masked"))));
    }
    return marks;
  }

  private static List<TokenMarks.MarkedRun> runs(JsonNode pairs) {
    List<TokenMarks.MarkedRun> runs = new ArrayList<>();
    for (JsonNode pair : pairs) {
      runs.add(new TokenMarks.MarkedRun(pair.path(0).asInt(), pair.path(1).asInt()));
    }
    return runs;
  }
}
