package io.troupe.runtime;

import io.troupe.cluster.OffendingAgent;

/**
 * An actor that is open to subclasses, with a protocol that is open to messages, and that knows of
 * the cluster, on purpose.
 */
public class OffendingActor {
  /** Not sealed. */
  public interface Command {}

  static Class<?> forbidden() {
    return OffendingAgent.class;
  }
}
