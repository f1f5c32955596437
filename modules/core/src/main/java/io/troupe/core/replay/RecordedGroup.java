package io.troupe.core.replay;

import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.group.Group;
import java.util.List;

/**
 * A scored group as a journal has it: everything that its completions are a function of, but the
 * prompt's text and the weights.
 *
 * @param summary rewards, and the versions that sampled each completion
 * @param prompt index in the training pool
 * @param epoch of the admission
 * @param draws as in {@link Group}
 * @param worker that sampled it
 * @param digests one a completion; empty in a journal without digests
 * @param filtered whether the group was put aside because it has nothing to teach
 */
public record RecordedGroup(
    GroupSummary summary,
    int prompt,
    long epoch,
    int draws,
    WorkerId worker,
    List<String> digests,
    boolean filtered) {
  public RecordedGroup {
    digests = List.copyOf(digests);
  }
}
