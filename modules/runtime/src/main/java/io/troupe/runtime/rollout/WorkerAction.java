package io.troupe.runtime.rollout;

import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.run.Input;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.SampledWeights;
import java.time.Duration;
import java.util.List;
import org.slf4j.event.Level;

/** The action that a rollout worker takes once its state has decided. */
public sealed interface WorkerAction {
  /** Send an input to the coordinator. */
  record Report(Input.FromWorker input) implements WorkerAction {}

  /**
   * Completions of a group that are sampled together: all of them, or those that it grows by.
   *
   * @param from completions of the group before them
   */
  record Part(Assignment assignment, int from, int completions) {}

  /** Sample parts of groups that enter the decode batch together. */
  record Sample(List<Part> parts) implements WorkerAction {}

  /** Stop sampling under a lease. */
  record Cancel(LeaseId lease) implements WorkerAction {}

  /** Fetch published weights. */
  record Fetch(PublishedWeights weights) implements WorkerAction {}

  /** Load fetched weights into the engine. */
  record Load(WeightSnapshot weights) implements WorkerAction {}

  /** Have completions verified. */
  record Verify(Assignment assignment, List<EpisodeText> completions) implements WorkerAction {}

  /** Send the verdicts on a group to the recorder. */
  record RecordVerdicts(WorkerGroups.Sampled group, List<Verdict> verdicts)
      implements WorkerAction {}

  /** Send a scored group to the trainer. */
  record Deliver(ScoredGroup group, List<SampledWeights> weights) implements WorkerAction {}

  /** Start a timer. */
  record Schedule(Timer timer, Duration pause) implements WorkerAction {}

  /** Stop a timer, if it runs. */
  record CancelTimer(Timer timer) implements WorkerAction {}

  /** Log a line. */
  record Log(Level level, String line) implements WorkerAction {}

  /** Throw, so that the supervisor starts another worker. */
  record Fail(IllegalStateException failure) implements WorkerAction {}

  /** The work that is tried again after a pause. */
  sealed interface Timer {
    /** Fetch the newest weights. */
    record Fetch() implements Timer {}

    /** Ask for groups in place of those that failed. */
    record Ask() implements Timer {}

    /** Verify the completions of a group that have no verdict. */
    record Verify(LeaseId lease) implements Timer {}
  }
}
