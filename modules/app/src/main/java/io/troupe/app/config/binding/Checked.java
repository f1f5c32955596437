package io.troupe.app.config.binding;

/** A record with rules between its keys. */
public interface Checked {
  /** States them all. */
  void check(Rules rules);
}
