package io.troupe.run.compose;

/**
 * Names of the environment variables that hand a run's secret to a child process. A command line
 * would show the secret to every user of the host.
 */
public final class ChildSecrets {
  /** The secret of a trainer rank. */
  public static final String RANK = "TROUPE_RANK_SECRET";

  /** The secret of a worker that fetches weights. */
  public static final String WEIGHTS = "TROUPE_WEIGHTS_SECRET";

  private ChildSecrets() {}
}
