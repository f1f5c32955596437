package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Configurations of short runs, and what their folders hold. */
public final class TestRuns {
  /**
   * A table that learns to add; slow enough to be caught in the middle. Its warm-up lets one answer
   * in ten be right, so that two groups of three differ in their rewards.
   */
  public static final String TOY =
      """
      run:
        seed: 5
      task:
        name: arithmetic
        min: 0
        max: 4
        held_out_share: 0.2
      policy:
        engine: toy
        context_length: 16
        token_delay: 1ms
      rollout:
        completions_per_prompt: 8
        max_tokens: 3
        max_concurrent_groups: 8
        groups_per_request: 8
      training:
        steps: 8
        groups_per_step: 3
        max_staleness: 1
        learning_rate: 0.003
        max_filtered_groups: 1000000
      evaluation:
        every: 4
        prompts: 5
      checkpoint:
        every: 2
      warmup:
        steps: 10
        batch: 16
        learning_rate: 0.1
      """;

  /** A decoder of 16 features on PyTorch. */
  public static final String DJL =
      """
      run:
        seed: 5
      task:
        name: arithmetic
        min: 0
        max: 4
        held_out_share: 0.2
      policy:
        engine: djl
        hidden: 16
        layers: 1
        heads: 2
        kv_heads: 1
        head_dim: 8
        feed_forward: 32
        context_length: 16
      warmup:
        steps: 10
        batch: 8
      rollout:
        completions_per_prompt: 4
        max_tokens: 3
        max_concurrent_groups: 8
        groups_per_request: 4
      training:
        steps: 8
        groups_per_step: 3
        max_staleness: 1
        learning_rate: 0.003
        filter_degenerate: false
      evaluation:
        every: 4
        prompts: 5
      checkpoint:
        every: 2
      """;

  private static final ObjectMapper JSON = new ObjectMapper();

  private TestRuns() {}

  /** Writes a configuration into a folder. */
  public static String write(Path folder, String yaml) throws IOException {
    return Files.writeString(folder.resolve("short.yaml"), yaml).toString();
  }

  /** The folder of a run of which nothing is known. */
  static RunFolder empty(Path folder) throws IOException {
    return RunFolder.create(
        folder,
        "run",
        LocalDateTime.of(2026, 1, 2, 3, 4),
        new RunFolder.Contents(new byte[0], "", Map.of(), ""));
  }

  /** The folder of the only run started in a working folder. */
  public static RunFolder only(Path folder) throws IOException {
    Path root = folder.resolve("runs");
    List<String> names = RunFolder.list(root);
    assertThat(names).as("runs in %s", root).hasSize(1);
    return RunFolder.open(root, names.getFirst());
  }

  /** The rows of a run as they stand in its file. */
  public static List<JsonNode> lines(RunFolder run) throws IOException {
    List<JsonNode> rows = new ArrayList<>();
    for (String line : Files.readAllLines(run.metrics())) {
      rows.add(JSON.readTree(line));
    }
    return rows;
  }

  /** The rows of a run, by step. */
  public static SortedMap<Long, JsonNode> rows(RunFolder run) throws IOException {
    SortedMap<Long, JsonNode> rows = new TreeMap<>();
    lines(run).forEach(row -> rows.put(row.path("step").longValue(), row));
    return rows;
  }

  /** The losses of a run's steps, in full precision. */
  public static List<String> losses(RunFolder run) throws IOException {
    List<String> losses = new ArrayList<>();
    rows(run)
        .forEach(
            (step, row) -> {
              if (step > 0) {
                losses.add(step + ": " + row.path("loss").asText());
              }
            });
    return losses;
  }

  /** Files a JVM leaves when native code ends it. */
  public static List<Path> crashReports(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.getFileName().toString().startsWith("hs_err")).toList();
    }
  }
}
