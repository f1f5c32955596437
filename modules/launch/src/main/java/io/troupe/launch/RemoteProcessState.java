package io.troupe.launch;

/** What has become of a process that was started on a host. */
public sealed interface RemoteProcessState {
  /** It lives. */
  record Running() implements RemoteProcessState {}

  /**
   * It ended.
   *
   * @param code its exit code, as shells count it
   */
  record Exited(int code) implements RemoteProcessState {}

  /** It is gone, and nobody was left there to note how: the host went down, for one. */
  record Lost() implements RemoteProcessState {}
}
