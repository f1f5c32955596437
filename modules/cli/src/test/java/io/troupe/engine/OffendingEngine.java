package io.troupe.engine;

import io.troupe.store.journal.Journal;

/** An engine that knows of the store, on purpose. */
public final class OffendingEngine {
  private OffendingEngine() {}

  static Class<?> forbidden() {
    return Journal.class;
  }
}
