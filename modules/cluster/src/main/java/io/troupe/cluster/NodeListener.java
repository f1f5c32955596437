package io.troupe.cluster;

/** Learns which nodes the coordinator has, and how processes of theirs are ended. */
public interface NodeListener {
  /** An agent of a node is there. */
  void joined(String node);

  /** An agent of a node is gone. */
  void left(String node);

  /** Takes what ends processes of nodes, as long as this process coordinates the run. */
  void stopProcessesWith(ProcessStopper stopper);

  /** Has the agent of a node end a process. */
  @FunctionalInterface
  interface ProcessStopper {
    /** Ends the process if it has this pid. */
    void stop(String node, String process, long pid);
  }
}
