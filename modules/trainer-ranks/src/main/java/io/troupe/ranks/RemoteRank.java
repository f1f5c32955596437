package io.troupe.ranks;

import io.troupe.ranks.protocol.RankClient;
import io.troupe.ranks.protocol.RankProtocol;
import java.io.IOException;

/**
 * The place of a rank that a node has started.
 *
 * @param report what it said when it came
 * @param call the connection to it
 * @param registry where it came
 */
record RemoteRank(RankProtocol.Report report, RankClient call, RankRegistry registry)
    implements RankSlot {
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
  public String describeEnd(IOException seen) {
    return seen instanceof RankClient.RankFailedException
        ? "%s failed: %s".formatted(this, seen.getMessage())
        : "%s is gone (%s)".formatted(this, seen.getMessage());
  }

  /** The agent of the rank's node starts another process. */
  @Override
  public void end() {
    registry.end(report);
    disconnect();
  }

  @Override
  public void disconnect() {
    call.close();
  }

  @Override
  public String toString() {
    return "process %d, %s on node %s".formatted(report.pid(), report.process(), report.node());
  }
}
