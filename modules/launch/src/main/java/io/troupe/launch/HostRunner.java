package io.troupe.launch;

import io.troupe.base.process.ExitCode;
import io.troupe.launch.remote.RemoteHost;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * Work on one host after another, of which some may be down or cut off: what fails on a host is
 * said, and holds up none of the others.
 */
final class HostRunner {
  private final LaunchReport report;
  private final Set<RemoteHost> failed = new HashSet<>();

  /** An action on a host. */
  @FunctionalInterface
  interface HostTask {
    /** Whether the host is as it should be then. */
    boolean done() throws IOException, InterruptedException;
  }

  /**
   * Creates a runner without failures.
   *
   * @param report takes what fails
   */
  HostRunner(LaunchReport report) {
    this.report = report;
  }

  /** Does something to a host, unless that has failed before; whether that is as it should be. */
  boolean run(RemoteHost host, HostTask act) throws InterruptedException {
    if (failed.contains(host)) {
      return false;
    }
    try {
      return act.done();
    } catch (IOException failure) {
      failed.add(host);
      report.fail(host, String.valueOf(failure.getMessage()));
      return false;
    }
  }

  /** Whether something has failed on a host. */
  boolean hasFailed(RemoteHost host) {
    return failed.contains(host);
  }

  /**
   * Returns the exit code of a command whose work is done: that of the hosts that failed, if any
   * did.
   */
  ExitCode exit() {
    return failed.isEmpty() ? ExitCode.OK : ExitCode.UNREACHABLE;
  }
}
