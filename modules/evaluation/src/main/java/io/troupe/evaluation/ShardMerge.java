package io.troupe.evaluation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.core.evaluation.ShardRange;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Joins the shards of one evaluation into a folder as if it had been made at once. */
public final class ShardMerge {
  private final List<Path> shards;

  /**
   * A merge of shards, in any order.
   *
   * @param shards their folders, at least one
   */
  public ShardMerge(List<Path> shards) {
    this.shards = List.copyOf(shards);
  }

  /**
   * Writes the joined evaluation.
   *
   * @param target a folder that does not exist, or is empty
   * @throws IOException if a shard is missing, not whole, or of another protocol; names it
   */
  public void into(Path target, Instant now) throws IOException {
    Map<Integer, EvaluationFolder> byIndex = byIndex();
    List<EvaluationFolder> ordered = List.copyOf(byIndex.values());
    ObjectNode protocol = ordered.getFirst().protocol();
    if (Files.isDirectory(target)) {
      try (var files = Files.list(target)) {
        if (files.findAny().isPresent()) {
          throw new IOException(
              "%s is not empty; name a new folder for the joined evaluation".formatted(target));
        }
      }
    }
    Files.createDirectories(target);
    List<String> tasks = EvaluationFolder.tasks(protocol);
    join(target, ordered, tasks, EvaluationFolder::prompts);
    join(target, ordered, tasks, EvaluationFolder::completions);
    join(target, ordered, tasks, EvaluationFolder::results);
    EvaluationFolder.write(
        target,
        protocol,
        Map.of(EvaluationFolder.SHARD, ShardRange.WHOLE.toString(), "started", started(ordered)));
    new SummaryWriter(EvaluationFolder.view(target)).write(now);
  }

  private static String started(List<EvaluationFolder> folders) throws IOException {
    List<Instant> starts = new ArrayList<>();
    for (EvaluationFolder folder : folders) {
      starts.add(Instant.parse(folder.protocol().path("started").asText()));
    }
    return starts.stream().min(Instant::compareTo).orElseThrow().toString();
  }

  private Map<Integer, EvaluationFolder> byIndex() throws IOException {
    Map<Integer, EvaluationFolder> byIndex = new TreeMap<>();
    EvaluationFolder first = EvaluationFolder.view(shards.getFirst());
    ObjectNode wanted = common(first.protocol());
    int count = range(first)[1];
    for (Path shard : shards) {
      EvaluationFolder folder = EvaluationFolder.view(shard);
      int[] range = range(folder);
      Optional<String> difference =
          range[1] == count
              ? EvaluationFolder.difference("", wanted, common(folder.protocol()))
              : Optional.of("%d shards there and %d here".formatted(count, range[1]));
      if (difference.isPresent()) {
        throw new IOException(
            "%s and %s are of different evaluations: %s"
                .formatted(first.path(), folder.path(), difference.get()));
      }
      EvaluationFolder other = byIndex.put(range[0], folder);
      if (other != null) {
        throw new IOException(
            "%s and %s are both shard %d/%d; name each shard once"
                .formatted(other.path(), folder.path(), range[0], count));
      }
    }
    String missing =
        IntStream.rangeClosed(1, count)
            .filter(i -> !byIndex.containsKey(i))
            .mapToObj(i -> i + "/" + count)
            .collect(Collectors.joining(", "));
    if (!missing.isEmpty()) {
      throw new IOException(
          "shard %s is missing; name its folder, or evaluate it by --shard".formatted(missing));
    }
    for (Map.Entry<Integer, EvaluationFolder> each : byIndex.entrySet()) {
      if (!each.getValue().isComplete()) {
        throw new IOException(
            "shard %d/%d in %s is not whole; continue it by --resume"
                .formatted(each.getKey(), count, each.getValue().path()));
      }
    }
    return byIndex;
  }

  private static int[] range(EvaluationFolder folder) throws IOException {
    String[] parts = folder.protocol().path(EvaluationFolder.SHARD).asText().split("/", 2);
    return new int[] {Integer.parseInt(parts[0]), Integer.parseInt(parts[1])};
  }

  private static ObjectNode common(ObjectNode protocol) {
    protocol.remove(List.of(EvaluationFolder.SHARD, "started"));
    return protocol;
  }

  /** Copies one file of all shards, task by task. */
  private static void join(
      Path target,
      List<EvaluationFolder> folders,
      List<String> tasks,
      Function<EvaluationFolder, Path> file)
      throws IOException {
    Path joined = target.resolve(file.apply(folders.getFirst()).getFileName());
    AtomicFile.replace(
        joined,
        beside -> {
          try (BufferedWriter out = Files.newBufferedWriter(beside)) {
            for (String task : tasks) {
              for (EvaluationFolder folder : folders) {
                copy(file.apply(folder), tasks.size() == 1 ? "" : task, out);
              }
            }
          }
        });
  }

  private static void copy(Path file, String task, BufferedWriter out) throws IOException {
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode of =
            task.isEmpty()
                ? EvaluationLines.JSON.missingNode()
                : EvaluationLines.JSON.readTree(line).path("task");
        if (task.isEmpty() || of.asText().equals(task)) {
          out.write(line);
          out.write('\n');
        }
      }
    }
  }
}
