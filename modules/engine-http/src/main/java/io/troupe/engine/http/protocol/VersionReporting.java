package io.troupe.engine.http.protocol;

/** The way in which a server reports the weights that sampled a token. */
public enum VersionReporting {
  /** Not at all, or for the last token only. */
  NOTHING,
  /** For each token. */
  SPANS,
  /**
   * Each request names an adapter, which is its own weight version, and the answer names it too.
   */
  ADAPTER
}
