package io.troupe.engine.http.fleet;

import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.probe.Capability;
import io.troupe.engine.http.protocol.LoadReport;
import io.troupe.engine.http.replica.Replica;
import java.time.Duration;

/**
 * Reads a server's load every second, so that a server that is busy for other clients gets less of
 * our work. A load that the server does not report counts as zero: then only our own requests are
 * considered.
 */
final class LoadMonitor implements Runnable {
  private static final Duration EVERY = Duration.ofSeconds(1);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** The fleet, as a load monitor uses it. */
  interface LoadListener {
    /** Waits for the pause; false once the replica has left. */
    boolean rest(Replica replica, Duration pause) throws InterruptedException;

    /** Reports how many requests of other clients the server has. */
    void busyForOthers(Replica replica, int requests);
  }

  private final Replica replica;
  private final LoadListener post;

  LoadMonitor(Replica replica, LoadListener post) {
    this.replica = replica;
    this.post = post;
  }

  @Override
  public void run() {
    try {
      while (post.rest(replica, EVERY)) {
        if (replica.knownCapabilities().filter(can -> can.has(Capability.METRICS)).isPresent()) {
          post.busyForOthers(replica, others(replica));
        }
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /** Requests that run or wait at the server, less our own requests. */
  static int others(Replica replica) throws InterruptedException {
    int own = replica.requests();
    try {
      InferenceClient.Response answer = replica.wire().get("/metrics", PATIENCE);
      LoadReport told = LoadReport.parse(answer.ok() ? answer.body() : "");
      replica.reportLoad(told, System.nanoTime());
      double all = told.running().orElse(0) + told.waiting().orElse(0);
      return (int) Math.clamp(all - own, 0, Integer.MAX_VALUE);
    } catch (InferenceCallException away) {
      return 0;
    }
  }
}
