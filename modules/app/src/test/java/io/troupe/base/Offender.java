package io.troupe.base;

import io.troupe.core.Require;

/** Breaks the rule of the lowest module: for tests of the rules only. */
public final class Offender {
  private Offender() {}

  /** Uses a class of a module above. */
  public static void use() {
    Require.require(true, "a module above");
  }
}
