package io.troupe.base.process;

/** Words on the standard error of a process that report its progress to other processes. */
public final class Announcements {
  /** A node agent is a member of the cluster. */
  public static final String AGENT_READY = "is in cluster";

  /** A process that may coordinate a run is a member of the cluster; its address follows. */
  public static final String COORDINATOR_AT = "coordinator at ";

  /** A run has a policy and serves its console; the link follows. */
  public static final String CONSOLE = "console ";

  private Announcements() {}
}
