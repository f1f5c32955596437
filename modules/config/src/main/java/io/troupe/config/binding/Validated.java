package io.troupe.config.binding;

/** A record with rules between its keys. */
public interface Validated {
  /** States all rules. */
  void check(RuleChecker rules);
}
