package io.troupe.runtime;

/** An actor that is open to subclasses, with a protocol that is open to messages, on purpose. */
public class OffendingActor {
  /** Not sealed. */
  public interface Command {}
}
