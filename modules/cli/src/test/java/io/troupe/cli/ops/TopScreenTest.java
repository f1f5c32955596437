package io.troupe.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The part of the screen that fits on a terminal. */
final class TopScreenTest {
  private static final JsonNode RUN =
      json(
          """
          {"facts": {"run": "r\\u001b[31m", "steps": 9, "max_staleness": 2}, "version": 3, "phase": "running",
           "bottleneck": "Rollout is the bottleneck.", "stages": [], "headline": {"reward": 0.5},
           "accounting": {"admitted": 4, "trained": 4}, "balanced": true}
          """);
  private static final JsonNode WAITS = json("{\"root\": \"Nobody waits.\"}");

  private static JsonNode json(String text) {
    try {
      return new ObjectMapper().readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JsonNode nodes(int workers) {
    StringBuilder text =
        new StringBuilder("[{\"node\": \"this process\", \"gauges\": {}, \"workers\": [");
    for (int i = 0; i < workers; i++) {
      text.append(i == 0 ? "" : ",");
      text.append("{\"worker\": \"w%d\", \"present\": %b}".formatted(i, i != 1));
    }
    return json(text + "]}]");
  }

  private static JsonNode actors(int count) {
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < count; i++) {
      text.append(i == 0 ? "" : ",");
      text.append("{\"path\": \"/user/a%d\", \"depth\": %d, \"per_second\": 1}".formatted(i, i));
    }
    return json(text + "]");
  }

  @Test
  void of_smallRun_showsWorkersThatAreThereAndTheFullestMailboxFirst() {
    List<String> lines = new TopScreen(120, 50).of(RUN, nodes(3), WAITS, actors(3));
    assertThat(lines).contains("Nobody waits.", "Rollout is the bottleneck.", "this process");
    assertThat(String.join("\n", lines))
        .contains("w0", "w2")
        .doesNotContain("w1", "\u001b")
        .containsSubsequence("/user/a2", "/user/a1", "/user/a0");
  }

  @Test
  void of_moreThanFits_saysHowManyAreLeftOut() {
    for (int rows : new int[] {1, 8, 24}) {
      List<String> lines = new TopScreen(40, rows).of(RUN, nodes(128), WAITS, actors(300));
      assertThat(lines).hasSizeLessThanOrEqualTo(rows).allMatch(line -> line.length() <= 40);
      assertThat(lines.getLast())
          .satisfies(line -> assertThat(rows < 24 || line.endsWith(" more")).isTrue());
    }
  }
}
