package io.troupe.store.journal;

/** The failures that an acknowledged append survives. */
public enum Durability {
  /** The end of this process, by any signal: the operating system has the bytes. */
  WRITTEN,
  /** The end of the machine, as far as its disk keeps its word: the bytes are fsynced. */
  SYNCED
}
