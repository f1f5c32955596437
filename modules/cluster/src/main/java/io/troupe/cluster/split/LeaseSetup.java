package io.troupe.cluster.split;

import akka.actor.setup.Setup;
import io.troupe.store.folder.RunLease;

/** Passes the run's lease to {@link SplitBrainResolver} in the setup of the actor system. */
public final class LeaseSetup extends Setup {
  private final RunLease lease;

  /** Sets the lease of the run that this process coordinates or stands by for. */
  public LeaseSetup(RunLease lease) {
    this.lease = lease;
  }

  RunLease lease() {
    return lease;
  }
}
