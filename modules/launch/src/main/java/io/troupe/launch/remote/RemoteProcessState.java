package io.troupe.launch.remote;

/** The state of a process that was started on a host. */
public sealed interface RemoteProcessState {
  /** The process runs. */
  record Running() implements RemoteProcessState {}

  /**
   * The process ended.
   *
   * @param code exit code of the process, as shells count it
   */
  record Exited(int code) implements RemoteProcessState {}

  /** The process is gone without a record of its end, for example because the host went down. */
  record Lost() implements RemoteProcessState {}
}
