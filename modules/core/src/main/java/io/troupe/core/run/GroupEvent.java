package io.troupe.core.run;

import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.group.LeaseEndReason;

/**
 * An event that moves groups from one stage to the next. Every view of groups folds over these, so
 * that an event which moves none needs no change in them.
 */
public sealed interface GroupEvent
    permits Event.GroupAdmitted,
        Event.LeaseGranted,
        Event.LeaseSampled,
        Event.GroupBuffered,
        Event.GroupFiltered,
        Event.GroupFailed,
        Event.GroupSpent,
        Event.StepStarted,
        Event.StepTrained,
        Event.StepSkipped,
        GroupEvent.Requeued {
  /** A group waits to be sampled again; what was sampled for it is void. */
  sealed interface Requeued extends GroupEvent
      permits Event.LeaseEnded, Event.GroupStale, Event.GroupWithdrawn {
    /** The lease that ended, or under which the buffered group was sampled. */
    LeaseId lease();

    /** Returns the reason under which the ledger counts the event. */
    LeaseEndReason reason();

    /** Why, in words; "" for what the reason says by itself. */
    String detail();

    /** The reason and its detail in a line. */
    default String cause() {
      return reason().word() + (detail().isEmpty() ? "" : ": " + detail());
    }
  }
}
