package io.troupe.cluster;

/** Is notified which nodes join and leave, and how to stop processes of nodes. */
public interface NodeListener {
  /** The agent of a node has joined. */
  void joined(String node);

  /** The agent of a node is gone. */
  void left(String node);

  /**
   * Takes the function that stops processes of nodes. It works while this process coordinates the
   * run.
   */
  void stopProcessesWith(ProcessStopper stopper);

  /** Orders the agent of a node to stop a process. */
  @FunctionalInterface
  interface ProcessStopper {
    /** Stops the process if it has this pid. */
    void stop(String node, String process, long pid);
  }
}
