package io.troupe.config.binding;

/** A record with rules between its keys. */
public interface Validated {
  /** States them all. */
  void check(RuleChecker rules);
}
