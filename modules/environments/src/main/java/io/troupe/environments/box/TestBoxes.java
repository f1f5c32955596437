package io.troupe.environments.box;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Boxes in which the tests of tasks run, each once and for one submission. Calls block. */
public final class TestBoxes implements AutoCloseable {
  private final Boxes boxes;

  /**
   * The results that tests left.
   *
   * @param faults why nothing of it may count; in most cases none
   * @param rewards contents of the reward files, by name
   * @param exit of the tests
   * @param output of the tests, at most as much as the settings allow
   */
  public record Graded(List<String> faults, Map<String, String> rewards, int exit, String output) {
    public Graded {
      faults = List.copyOf(faults);
      rewards = Map.copyOf(rewards);
    }
  }

  /** Boxes with these limits. */
  public TestBoxes(BoxSettings settings) {
    this.boxes = Boxes.of("test boxes", settings);
  }

  /**
   * Runs {@code /tests/test.sh} in a box with these contents.
   *
   * @throws io.troupe.environments.EnvironmentFailedException if no box can be started
   */
  public Graded grade(BoxContents contents, Duration limit) {
    boxes.prepare(contents.root());
    boxes.slots().acquire();
    try {
      Box box = boxes.start(contents.root());
      try {
        box.fill(contents);
        return box.grade(limit);
      } catch (IOException ended) {
        return fault("the sandbox of the tests ended");
      } finally {
        boxes.slots().end(box);
      }
    } finally {
      boxes.slots().release();
    }
  }

  static Graded graded(JsonNode reply) {
    if (reply.has("cause")) {
      return fault("the sandbox of the tests ended: " + reply.path("cause").asText());
    }
    List<String> faults = new ArrayList<>();
    reply.path("faults").forEach(each -> faults.add(each.asText()));
    Map<String, String> rewards = new HashMap<>();
    reply
        .path("rewards")
        .properties()
        .forEach(each -> rewards.put(each.getKey(), each.getValue().asText()));
    return new Graded(faults, rewards, reply.path("exit").asInt(), reply.path("text").asText());
  }

  private static Graded fault(String why) {
    return new Graded(List.of(why), Map.of(), 1, "");
  }

  @Override
  public void close() {
    boxes.slots().close();
  }
}
