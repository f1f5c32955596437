package io.troupe.core;

/** Is named as nothing should be, on purpose. */
public final class OffenderManager {
  private OffenderManager() {}
}
