package io.troupe.runtime;

/**
 * A message that may travel to another JVM: it consists of values, of references to actors, and of
 * nothing that lives in one process only.
 */
public interface WireMessage {}
