package io.troupe.cluster.ranks;

import java.io.IOException;

/**
 * The place of a rank that a node has started.
 *
 * @param report what it said when it came
 * @param call the connection to it
 * @param hall where it came
 */
record NodeSeat(RankTalk.Report report, RankCall call, RankHall hall) implements RankSeat {
  @Override
  public int number() {
    return report.rank();
  }

  String node() {
    return report.node();
  }

  boolean open() {
    return call.open();
  }

  @Override
  public String fate(IOException seen) {
    return seen instanceof RankCall.RankFailedException
        ? "%s failed: %s".formatted(this, seen.getMessage())
        : "%s is gone (%s)".formatted(this, seen.getMessage());
  }

  /** Its agent starts another one. */
  @Override
  public void end() {
    hall.end(report);
    hangUp();
  }

  @Override
  public void hangUp() {
    call.close();
  }

  @Override
  public String toString() {
    return "process %d, %s on node %s".formatted(report.pid(), report.process(), report.node());
  }
}
