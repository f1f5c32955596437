package io.troupe.run.fork;

import io.troupe.core.replay.RecordedItem;
import io.troupe.core.replay.RunComparison;
import io.troupe.run.replay.ComputedWith;
import io.troupe.run.replay.ReplayPlan;
import io.troupe.run.replay.ReplayRefusedException;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Two runs held together: what they were computed with, and where they part.
 *
 * @param facts differences between the first processes of both, one sentence each
 * @param forks the run that continues the other, one sentence each
 * @param keys lines of the resolved configurations that only one of them has, where they part
 * @param common steps with the same weights before they part or one ends
 */
public record RunPair(
    String a,
    String b,
    List<String> facts,
    List<String> forks,
    List<String> keys,
    long common,
    Optional<RunComparison.Parting> parting) {
  public RunPair {
    facts = List.copyOf(facts);
    forks = List.copyOf(forks);
    keys = List.copyOf(keys);
  }

  /**
   * Reads both journals.
   *
   * @throws ReplayRefusedException if one has no digests
   */
  public static RunPair of(RunFolder a, RunFolder b) throws IOException, ReplayRefusedException {
    List<RecordedItem> left = ReplayPlan.recorded(a).items();
    List<RecordedItem> right = ReplayPlan.recorded(b).items();
    RecordedItem.Began first = begin(a, left);
    RecordedItem.Began second = begin(b, right);
    List<String> facts = new ArrayList<>();
    Map<String, String> there = second.process().facts();
    facts.addAll(ComputedWith.obstacles(first.process().facts(), there));
    facts.addAll(ComputedWith.remarks(first.process().facts(), there));
    Optional<RunComparison.Parting> parting = RunComparison.of(left, right);
    long at = parting.map(RunComparison.Parting::step).orElse(Long.MAX_VALUE);
    return new RunPair(
        a.name(),
        b.name(),
        facts.stream().map(one -> one.replace(" here", "").replace(" is ", " / ")).toList(),
        forks(a, b),
        keys(process(left, at).process().config(), process(right, at).process().config()),
        RunComparison.common(left, right),
        parting);
  }

  private static List<String> forks(RunFolder a, RunFolder b) throws IOException {
    List<String> sentences = new ArrayList<>();
    for (RunFolder run : List.of(a, b)) {
      ForkOrigin.of(run).ifPresent(from -> sentences.add(run.name() + " " + from.words()));
    }
    return sentences;
  }

  /** Returns the process that made a step, or the last process. */
  private static RecordedItem.Began process(List<RecordedItem> items, long step) {
    RecordedItem.Began process = null;
    for (RecordedItem item : items) {
      if (item instanceof RecordedItem.Began began
          && began.version().number() < Math.max(1, step)) {
        process = began;
      }
    }
    return Objects.requireNonNull(process);
  }

  private static RecordedItem.Began begin(RunFolder folder, List<RecordedItem> items)
      throws ReplayRefusedException {
    return items.stream()
        .filter(RecordedItem.Began.class::isInstance)
        .map(RecordedItem.Began.class::cast)
        .findFirst()
        .orElseThrow(
            () ->
                new ReplayRefusedException(
                    "the journal of %s has no digests: a version of Troupe without replay wrote it,"
                            .formatted(folder.name())
                        + " or its oldest records were dropped (recording.journal)"));
  }

  private static List<String> keys(String a, String b) {
    List<String> left = paths(a);
    List<String> right = paths(b);
    List<String> lines = new ArrayList<>();
    left.stream().filter(line -> !right.contains(line)).forEach(line -> lines.add("- " + line));
    right.stream().filter(line -> !left.contains(line)).forEach(line -> lines.add("+ " + line));
    return lines;
  }

  /** The lines of a resolved configuration without origins, each behind its section's name. */
  private static List<String> paths(String yaml) {
    List<String> paths = new ArrayList<>();
    String section = "";
    for (String line : yaml.lines().toList()) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      int origin = line.lastIndexOf("  # ");
      String key = (origin < 0 ? line : line.substring(0, origin)).strip();
      if (line.startsWith(" ")) {
        paths.add(section + key);
      } else {
        section = key.replaceFirst(":.*", ".");
        if (!key.endsWith(":")) {
          paths.add(key);
        }
      }
    }
    return paths;
  }

  /** For people. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    facts.forEach(fact -> lines.add("computed " + fact));
    forks.forEach(fork -> lines.add("fork     " + fork));
    keys.forEach(key -> lines.add("key      " + key));
    lines.add("equal    the weights of the first %,d steps".formatted(common));
    lines.add(
        parting
            .map(at -> "part     step %d: %s".formatted(at.step(), at.reason()))
            .orElse("part     nowhere, as far as both go"));
    return lines;
  }

  /** For JSON. */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("a", a);
    map.put("b", b);
    map.put("computed_with", facts);
    map.put("forks", forks);
    map.put("keys", keys);
    map.put("common_steps", common);
    map.put("equal", parting.isEmpty());
    parting.ifPresent(at -> map.put("parting", Map.of("step", at.step(), "reason", at.reason())));
    return map;
  }
}
