package io.troupe.cluster.split;

import akka.actor.setup.Setup;
import io.troupe.store.folder.RunLease;

/** Hands the lease of the run to what decides about splits; part of an actor system's setup. */
public final class LeaseSetup extends Setup {
  private final RunLease lease;

  /** The lease of the run whose head this process is, or waits to become. */
  public LeaseSetup(RunLease lease) {
    this.lease = lease;
  }

  RunLease lease() {
    return lease;
  }
}
