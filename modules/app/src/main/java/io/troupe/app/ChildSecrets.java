package io.troupe.app;

/**
 * Names of the environment variables that hand a run's secret to a child process. A command line
 * would show the secret to every user of the host.
 */
final class ChildSecrets {
  /** The secret of a trainer rank. */
  static final String RANK = "TROUPE_RANK_SECRET";

  /** The secret of a worker that fetches weights. */
  static final String WEIGHTS = "TROUPE_WEIGHTS_SECRET";

  private ChildSecrets() {}
}
