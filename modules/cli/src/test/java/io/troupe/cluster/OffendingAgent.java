package io.troupe.cluster;

/** Something of the cluster that an offender may know of, on purpose. */
public final class OffendingAgent {
  private OffendingAgent() {}
}
