package io.troupe.base;

import io.troupe.engine.SamplingEngine;

/** Breaks the rule of module base: for tests of the rules only. */
public final class OffendingFileTool {
  private OffendingFileTool() {}

  /** Uses a class of a module above. */
  public static Class<?> use() {
    return SamplingEngine.class;
  }
}
