package io.troupe.gym.item;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The performance of a student on the items of one split, as a whole and by slices.
 *
 * @param overall all answers
 * @param skills one slice for each skill that has an answer, by name
 * @param leaves one slice for each subskill that has an answer, by path
 */
public record GymReport(SkillSlice overall, List<SkillSlice> skills, List<SkillSlice> leaves) {
  /** The name of the slice that holds all answers. */
  public static final String ALL = "all";

  public GymReport {
    skills = List.copyOf(skills);
    leaves = List.copyOf(leaves);
  }

  /** Counts answers, at least one. */
  public static GymReport of(List<AnsweredItem> answers) {
    require(!answers.isEmpty(), "a report needs at least one answer; the split has no items");
    Map<String, int[]> skills = new TreeMap<>();
    Map<String, int[]> leaves = new TreeMap<>();
    int correct = 0;
    for (AnsweredItem each : answers) {
      int right = each.correct() ? 1 : 0;
      correct += right;
      add(skills, each.item().skill(), right);
      add(leaves, each.item().leaf(), right);
    }
    return new GymReport(
        new SkillSlice(ALL, answers.size(), correct), slices(skills), slices(leaves));
  }

  /** Returns the slice of a subskill; empty if it has no answer, which is no accuracy of 0. */
  public Optional<SkillSlice> leaf(String path) {
    return leaves.stream().filter(each -> each.name().equals(path)).findFirst();
  }

  /** Returns the slice of a skill; empty if it has no answer. */
  public Optional<SkillSlice> skill(String name) {
    return skills.stream().filter(each -> each.name().equals(name)).findFirst();
  }

  private static void add(Map<String, int[]> counts, String name, int right) {
    int[] sums = counts.computeIfAbsent(name, _ -> new int[2]);
    sums[0]++;
    sums[1] += right;
  }

  private static List<SkillSlice> slices(Map<String, int[]> counts) {
    List<SkillSlice> slices = new ArrayList<>();
    counts.forEach((name, sums) -> slices.add(new SkillSlice(name, sums[0], sums[1])));
    return slices;
  }
}
