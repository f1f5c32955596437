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
 * Keeps one server at the newest weights while it is in the fleet, and waits longer after each
 * failure in a row. Nothing else updates this server.
 *
 * <p>A failed loading of adapters leaves the server's weights intact, so it is repeated. After
 * several failures in a row the server may hang, and needs a restart. A failure in this process is
 * no reason for a restart.
 */
public final class WeightSyncLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(WeightSyncLoop.class);
  private static final Backoff BACKOFF = new Backoff(500, 30_000);
  private static final int MOST_LOADINGS = 3;

  /**
   * The weights that servers are to have.
   *
   * @param directory the files that servers read
   */
  public record TargetWeightSet(WeightTag tag, Path directory, WeightSnapshot weights) {}

  /** The fleet, as this loop needs it. */
  public interface SyncListener {
    /** Waits until the server needs weights; empty when it has left the fleet. */
    Optional<TargetWeightSet> awaitTarget(Replica replica) throws InterruptedException;

    /** Waits for a pause; returns false if the server left the fleet meanwhile. */
    boolean rest(Replica replica, Duration pause) throws InterruptedException;

    /** Keeps the files of these weights until {@link #release}, because a server reads them. */
    void hold(TargetWeightSet goal);

    void release(TargetWeightSet goal);

    /** The server samples with these weights, unless its state was reset meanwhile. */
    void updated(Replica replica, TargetWeightSet goal);

    /** The server may be another process than the updated one. */
    void weightsInvalidated(Replica replica);

    /**
     * The update of the server failed.
     *
     * @param broken whether the server needs a restart: it lacks a capability, or its update is
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

  /** Updates the server to weights; returns whether it has them. */
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
