package io.troupe.core.replay;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.ProcessFacts;
import io.troupe.core.weights.WeightVersion;
import java.util.List;

/** One thing that a run did and that a replay does again, in the order of the journal. */
public sealed interface RecordedItem {
  /**
   * A process began or continued the run.
   *
   * @param version of the weights it began with
   * @param digest of these weights
   * @param resumed whether it continued from the checkpoint of that version
   */
  record Began(ProcessFacts process, WeightVersion version, String digest, boolean resumed)
      implements RecordedItem {}

  /** A group was scored. */
  record Scored(RecordedGroup group) implements RecordedItem {}

  /**
   * A step moved the weights.
   *
   * @param batch in the order of the batch
   * @param kept of its groups, for another use
   * @param digest of the weights behind the step; empty in a journal without digests
   */
  record Trained(long step, List<LeaseId> batch, List<GroupId> kept, String digest)
      implements RecordedItem {
    public Trained {
      batch = List.copyOf(batch);
      kept = List.copyOf(kept);
    }

    /** A step whose groups all ended. */
    public Trained(long step, List<LeaseId> batch, String digest) {
      this(step, batch, List.of(), digest);
    }
  }

  /** A step left the weights as they were. */
  record Skipped(long step, List<LeaseId> batch, String reason) implements RecordedItem {
    public Skipped {
      batch = List.copyOf(batch);
    }
  }
}
