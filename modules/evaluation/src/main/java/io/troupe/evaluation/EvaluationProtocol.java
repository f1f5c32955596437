package io.troupe.evaluation;

import io.troupe.core.evaluation.Bootstrap;
import io.troupe.core.evaluation.ShardRange;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The settings that decide an evaluation's numbers.
 *
 * @param build of Troupe
 * @param policy the evaluated policy, with the digests of its weights and templates
 * @param ks of pass@k
 * @param configuration keys of the file that was evaluated by, with their values
 */
public record EvaluationProtocol(
    String build,
    Map<String, Object> policy,
    long seed,
    SortedSet<Integer> ks,
    ShardRange shard,
    Map<String, String> configuration,
    List<EvaluationTask> tasks) {
  public EvaluationProtocol {
    policy = Collections.unmodifiableMap(new LinkedHashMap<>(policy));
    ks = Collections.unmodifiableSortedSet(new TreeSet<>(ks));
    configuration = Collections.unmodifiableMap(new LinkedHashMap<>(configuration));
    tasks = List.copyOf(tasks);
  }

  /** Items of a task that are in the shard. */
  List<EvaluationItem> items(EvaluationTask task) {
    int size = task.items().size();
    return task.items().subList(shard.from(size), shard.to(size));
  }

  /** The protocol as JSON has it. */
  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("format", EvaluationFolder.FORMAT);
    map.put("troupe", build);
    map.put("policy", policy);
    map.put("seed", seed);
    map.put("k", List.copyOf(ks));
    map.put("shard", shard.toString());
    Map<String, Object> bootstrap = new LinkedHashMap<>();
    bootstrap.put("level", 0.95);
    bootstrap.put("resamples", Bootstrap.RESAMPLES);
    bootstrap.put("seed", Bootstrap.SEED);
    map.put("bootstrap", bootstrap);
    map.put(
        "tasks",
        tasks.stream()
            .map(
                task -> {
                  Map<String, Object> each = new LinkedHashMap<>();
                  each.put("task", task.name());
                  each.put("prompts", task.items().size());
                  each.put("samples", task.samples());
                  each.putAll(task.protocol());
                  return each;
                })
            .toList());
    map.put("configuration", configuration);
    return map;
  }
}
