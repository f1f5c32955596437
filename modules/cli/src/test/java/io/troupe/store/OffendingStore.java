package io.troupe.store;

import io.troupe.runtime.Run;

/** A part of the store that knows of the actors, on purpose. */
public final class OffendingStore {
  private OffendingStore() {}

  static Class<?> forbidden() {
    return Run.class;
  }
}
