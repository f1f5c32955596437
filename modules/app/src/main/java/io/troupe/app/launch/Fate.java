package io.troupe.app.launch;

/** What has become of a process that was started on a host. */
public sealed interface Fate {
  /** It lives. */
  record Alive() implements Fate {}

  /**
   * It ended.
   *
   * @param code its exit code, as shells count it
   */
  record Ended(int code) implements Fate {}

  /** It is gone, and nobody was left there to note how: the host went down, for one. */
  record Lost() implements Fate {}
}
