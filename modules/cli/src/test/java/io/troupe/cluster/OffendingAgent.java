package io.troupe.cluster;

/** An offender that knows a part of the cluster, on purpose. */
public final class OffendingAgent {
  private OffendingAgent() {}
}
