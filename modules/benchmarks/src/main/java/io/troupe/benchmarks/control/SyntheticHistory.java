package io.troupe.benchmarks.control;

import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.store.state.RunJson;
import java.util.ArrayList;
import java.util.List;

/**
 * The journal records of groups that are admitted, sampled, scored and trained one after the other,
 * as a coordinator writes them, and the state they come to: a long history, made quickly.
 */
final class SyntheticHistory {
  private static final int GROUPS_PER_STEP = 64;
  private static final int WORKERS = 64;
  private static final int PROMPTS = 1_000_000;
  private static final long EPOCH_MILLIS = 1_763_000_000_000L;
  private static final long LEASE_MILLIS = 60_000;
  private static final int TOKENS_OF_STEP = GROUPS_PER_STEP * 1_720;

  private final List<GroupId> buffered = new ArrayList<>();
  private RunState state = RunState.INITIAL.evolve(new Event.RunStarted());
  private long group;

  RunState state() {
    return state;
  }

  /** The records of the next group's life, and of the step that it completes. */
  List<byte[]> next() {
    group++;
    GroupId id = new GroupId(group);
    LeaseId lease = new LeaseId(id, group);
    WeightVersion version = state.version();
    WorkerId worker = new WorkerId("node-%d/rollout-%d".formatted(group % 8, group % WORKERS));
    PromptCursor cursor = new PromptCursor(group / PROMPTS, (int) (group % PROMPTS));
    List<byte[]> records = new ArrayList<>();
    records.add(
        record(
            new Event.DemandRaised(worker, group),
            new Event.GroupAdmitted(
                id, (int) ((group - 1) % PROMPTS), (group - 1) / PROMPTS, cursor),
            new Event.LeaseGranted(lease, worker, version, group + LEASE_MILLIS)));
    records.add(record(new Event.LeaseSampled(lease, 1_000)));
    records.add(record(new Event.GroupBuffered(CoordinatorLoop.summary(lease, version))));
    buffered.add(id);
    if (buffered.size() == GROUPS_PER_STEP) {
      long step = version.number() + 1;
      records.add(record(new Event.StepStarted(step, buffered)));
      records.add(record(new Event.LossTokensCounted(step, TOKENS_OF_STEP, 0, 0, 1)));
      records.add(record(new Event.StepTrained(step)));
      buffered.clear();
    }
    return records;
  }

  private byte[] record(Event... events) {
    for (Event event : events) {
      state = state.evolve(event);
    }
    return RunJson.encode(new RunJson.Entry(EPOCH_MILLIS + group, List.of(events)));
  }
}
