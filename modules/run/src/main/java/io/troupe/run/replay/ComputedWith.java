package io.troupe.run.replay;

import io.troupe.base.build.BuildInfo;
import io.troupe.core.run.ProcessFacts;
import io.troupe.engine.PolicyEngines;
import io.troupe.run.compose.Composition;
import io.troupe.run.task.SupervisedData;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;

/**
 * The facts on which the bits of a process depend, and the differences of two processes in them.
 */
public final class ComputedWith {
  private static final String JDK = "jdk";
  private static final String TROUPE = "troupe";
  private static final String ROWS = "imitated rows";

  /** Facts that should not change a bit; a difference in them is worth knowing. */
  private static final Set<String> HARMLESS = Set.of(JDK, TROUPE);

  private ComputedWith() {}

  /**
   * The facts of this process.
   *
   * @param config resolved configuration of the process
   */
  public static ProcessFacts process(
      PolicyEngines engines, Composition composition, String config) {
    SortedMap<String, String> facts = engines.facts();
    if (!composition.task().imitated().isEmpty()) {
      facts.put(ROWS, SupervisedData.digest(composition.task().imitated()));
    }
    facts.put(JDK, Runtime.version().toString());
    facts.put(TROUPE, BuildInfo.version());
    return new ProcessFacts(facts, config);
  }

  /** Returns the differences that may change bits, one sentence a fact. */
  public static List<String> obstacles(Map<String, String> recorded, Map<String, String> here) {
    return differences(recorded, here, false);
  }

  /** Returns the differences that should change nothing, one sentence a fact. */
  public static List<String> remarks(Map<String, String> recorded, Map<String, String> here) {
    return differences(recorded, here, true);
  }

  private static List<String> differences(
      Map<String, String> recorded, Map<String, String> here, boolean harmless) {
    List<String> sentences = new ArrayList<>();
    Set<String> names = new TreeSet<>(recorded.keySet());
    names.addAll(here.keySet());
    for (String name : names) {
      String then = recorded.getOrDefault(name, "unset");
      String now = here.getOrDefault(name, "unset");
      if (!Objects.equals(then, now) && HARMLESS.contains(name) == harmless) {
        sentences.add("%s was %s and is %s here".formatted(name, then, now));
      }
    }
    return sentences;
  }
}
