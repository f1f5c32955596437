package io.troupe.core.train;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import java.util.ArrayList;
import java.util.List;

/**
 * A group that a step trained on, with its tokens' marks.
 *
 * @param lease that its tokens came under
 * @param completions one a training sequence, in order: a completion, unless episodes have several
 *     sequences
 */
public record GroupTokenMarks(LeaseId lease, List<TokenMarks> completions) {
  public GroupTokenMarks {
    completions = List.copyOf(completions);
  }

  /** Whether any token has a mark. */
  public boolean hasMarks() {
    return completions.stream().anyMatch(marks -> !marks.equals(TokenMarks.NONE));
  }

  /**
   * Gives each group of a batch its part.
   *
   * @param marks one a sequence of all groups, in order of groups
   */
  public static List<GroupTokenMarks> of(List<ScoredGroup> groups, List<TokenMarks> marks) {
    int sequences = groups.stream().mapToInt(group -> group.sequences().size()).sum();
    require(
        sequences == marks.size(),
        "a step on %d sequences has as many of their marks, not %d",
        sequences,
        marks.size());
    List<GroupTokenMarks> marked = new ArrayList<>();
    int from = 0;
    for (ScoredGroup group : groups) {
      int to = from + group.sequences().size();
      marked.add(new GroupTokenMarks(group.lease(), marks.subList(from, to)));
      from = to;
    }
    return marked;
  }
}
