package io.troupe.engine.http.replica;

import io.troupe.core.outage.Backoff;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.probe.UpdateStep;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.weights.WeightSnapshot;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one server at the newest weights, as long as it is in the fleet; rests longer after each
 * failure in a row. It is the only one that updates this server.
 *
 * <p>A failed loading of adapters harms nothing that the server draws with, so it is done again;
 * but one that fails time after time may be a server that hangs, and is to be started anew. What
 * fails in this process is no reason for that.
 */
public final class WeightSyncLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(WeightSyncLoop.class);
  private static final Backoff BACKOFF = new Backoff(500, 30_000);
  private static final int MOST_LOADINGS = 3;

  /**
   * The weights that servers are brought to.
   *
   * @param directory with what servers get of them
   */
  public record TargetWeightSet(WeightTag tag, Path directory, WeightSnapshot weights) {}

  /** The fleet, as an attendant sees it. */
  public interface SyncListener {
    /** Waits until the server needs weights; none when it has left. */
    Optional<TargetWeightSet> awaitTarget(Replica replica) throws InterruptedException;

    /** Waits, at most until the server leaves; false once it has. */
    boolean rest(Replica replica, Duration pause) throws InterruptedException;

    /** A server reads these weights: their files must stay until {@link #release}. */
    void hold(TargetWeightSet goal);

    void release(TargetWeightSet goal);

    /** The server draws with these weights, if nobody doubted it meanwhile. */
    void updated(Replica replica, TargetWeightSet goal);

    /** The server may be another process than the one that was brought to weights. */
    void weightsInvalidated(Replica replica);

    /**
     * The server does not.
     *
     * @param broken whether it is to be started anew: it cannot do what is needed, or its update is
     *     half done
     */
    void updateFailed(Replica replica, TargetWeightSet goal, boolean broken, String reason);
  }

  private final Replica replica;
  private final SyncListener post;
  private int failures; // in a row

  public WeightSyncLoop(Replica replica, SyncListener post) {
    this.replica = replica;
    this.post = post;
  }

  @Override
  public void run() {
    int unmoved = 0; // in a row
    try {
      while (true) {
        Optional<TargetWeightSet> next = post.awaitTarget(replica);
        if (next.isEmpty()) {
          return;
        }
        if (updateTo(next.get())) {
          unmoved = 0;
        } else {
          unmoved++;
          boolean _ = post.rest(replica, Duration.ofMillis(BACKOFF.pauseMillis(unmoved)));
        }
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /** Brings the server to weights; true if it has them. */
  private boolean updateTo(TargetWeightSet goal) throws InterruptedException {
    post.hold(goal);
    WeightUpdate.Next end;
    try {
      end = update(goal);
    } finally {
      post.release(goal);
    }
    return switch (end) {
      case WeightUpdate.Next.Updated() -> {
        post.updated(replica, goal);
        failures = 0;
        if (!replica.unloadUnusedAdapters()) {
          post.weightsInvalidated(replica);
        }
        yield true;
      }
      case WeightUpdate.Next.NotUpdated(String reason) -> {
        boolean hopeless =
            ++failures % MOST_LOADINGS == 0 && replica.publishing() == PublishedWeightForm.ADAPTERS;
        yield failed(goal, hopeless, reason);
      }
      case WeightUpdate.Next.Unable(String reason) -> failed(goal, false, reason);
      case WeightUpdate.Next.Broken(String reason) -> failed(goal, true, reason);
      case WeightUpdate.Next.Do(UpdateStep step) ->
          throw new IllegalStateException("an update ended before " + step);
    };
  }

  private boolean failed(TargetWeightSet goal, boolean broken, String reason) {
    replica.resetCapabilities();
    post.updateFailed(replica, goal, broken, reason);
    return false;
  }

  private WeightUpdate.Next update(TargetWeightSet goal) throws InterruptedException {
    try {
      boolean known = replica.knownCapabilities().isPresent();
      Capabilities can = replica.capabilities();
      if (!known) {
        LOG.info("server={} {}", replica.name(), can.line(replica.publishing()));
      }
      List<String> objections = can.objections(replica.needs());
      return objections.isEmpty()
          ? replica.update(goal)
          : new WeightUpdate.Next.Broken(String.join("; ", objections));
    } catch (InferenceCallException away) {
      return new WeightUpdate.Next.NotUpdated(away.fault().toString());
    }
  }
}
