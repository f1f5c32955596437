package io.troupe.engine.http.protocol;

/** How a server tells which weights drew a token. */
public enum VersionReporting {
  /** Not at all; or of the last token alone. */
  NOTHING,
  /** Token by token. */
  SPANS,
  /** Each request names an adapter, which is a version of its own, and the answer names it too. */
  ADAPTER
}
