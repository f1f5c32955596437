package io.troupe.core;

import io.troupe.base.OffendingCaller;

/** Half of a cycle between two packages, on purpose; {@link OffendingCaller} is the other half. */
public final class OffendingCallee {
  private OffendingCallee() {}

  /** Refers to a class that refers back. */
  public static Class<?> use() {
    return OffendingCaller.class;
  }
}
