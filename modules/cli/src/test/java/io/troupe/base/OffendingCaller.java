package io.troupe.base;

import io.troupe.core.OffendingCallee;

/** Half of a cycle between two packages, on purpose; {@link OffendingCallee} is the other half. */
public final class OffendingCaller {
  private OffendingCaller() {}

  /** Refers to a class that refers back. */
  public static Class<?> use() {
    return OffendingCallee.class;
  }
}
