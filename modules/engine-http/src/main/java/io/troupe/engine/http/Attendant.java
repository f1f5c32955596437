package io.troupe.engine.http;

import io.troupe.core.restart.Backoff;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.protocol.WeightTag;
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
final class Attendant implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Attendant.class);
  private static final Backoff BACKOFF = new Backoff(500, 30_000);
  private static final int MOST_LOADINGS = 3;

  /**
   * The weights that servers are brought to.
   *
   * @param directory with what servers get of them
   */
  record Goal(WeightTag tag, Path directory, WeightSnapshot weights) {}

  /** The fleet, as an attendant sees it. */
  interface Post {
    /** Waits until the server needs weights; none when it has left. */
    Optional<Goal> awaitNeed(Replica replica) throws InterruptedException;

    /** Waits, at most until the server leaves; false once it has. */
    boolean rest(Replica replica, Duration pause) throws InterruptedException;

    /** A server reads these weights: their files must stay until {@link #release}. */
    void hold(Goal goal);

    void release(Goal goal);

    /** The server draws with these weights, if nobody doubted it meanwhile. */
    void moved(Replica replica, Goal goal);

    /** The server may be another process than the one that was brought to weights. */
    void doubted(Replica replica);

    /**
     * The server does not.
     *
     * @param broken whether it is to be started anew: it cannot do what is needed, or its update is
     *     half done
     */
    void unmoved(Replica replica, Goal goal, boolean broken, String reason);
  }

  private final Replica replica;
  private final Post post;
  private int failures; // in a row

  Attendant(Replica replica, Post post) {
    this.replica = replica;
    this.post = post;
  }

  @Override
  public void run() {
    int unmoved = 0; // in a row
    try {
      while (true) {
        Optional<Goal> next = post.awaitNeed(replica);
        if (next.isEmpty()) {
          return;
        }
        if (bring(next.get())) {
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
  private boolean bring(Goal goal) throws InterruptedException {
    post.hold(goal);
    Update.Next end;
    try {
      end = update(goal);
    } finally {
      post.release(goal);
    }
    return switch (end) {
      case Update.Next.Moved() -> {
        post.moved(replica, goal);
        failures = 0;
        if (!replica.tidy()) {
          post.doubted(replica);
        }
        yield true;
      }
      case Update.Next.Unmoved(String reason) -> {
        boolean hopeless =
            ++failures % MOST_LOADINGS == 0 && replica.publishing() == Publishing.ADAPTERS;
        yield failed(goal, hopeless, reason);
      }
      case Update.Next.Unable(String reason) -> failed(goal, false, reason);
      case Update.Next.Broken(String reason) -> failed(goal, true, reason);
      case Update.Next.Do(UpdateStep step) ->
          throw new IllegalStateException("an update ended before " + step);
    };
  }

  private boolean failed(Goal goal, boolean broken, String reason) {
    replica.forget();
    post.unmoved(replica, goal, broken, reason);
    return false;
  }

  private Update.Next update(Goal goal) throws InterruptedException {
    try {
      boolean known = replica.known().isPresent();
      Capabilities can = replica.capabilities();
      if (!known) {
        LOG.info("server={} {}", replica.name(), can.line(replica.publishing()));
      }
      List<String> objections = can.objections(replica.needs());
      return objections.isEmpty()
          ? replica.update(goal)
          : new Update.Next.Broken(String.join("; ", objections));
    } catch (EndpointException away) {
      return new Update.Next.Unmoved(away.fault().toString());
    }
  }
}
