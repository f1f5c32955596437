package io.troupe.aws.container;

import io.troupe.core.outage.Backoff;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;

/**
 * The node agent of a host of a job. It is started again whenever it ends before the job does: the
 * first host may be downloading the copy of a run for minutes, and a node gives up its seed before.
 */
final class JobNode {
  private static final Backoff BACKOFF = new Backoff(1_000, 10_000);

  /** Starts the node agent. */
  @FunctionalInterface
  interface NodeStart {
    ContainerProcess start() throws IOException;
  }

  private final NodeStart start;
  private final PrintStream out;
  private final Thread keeper;
  private ContainerProcess node;
  private boolean over;

  private JobNode(NodeStart start, PrintStream out) throws IOException {
    this.start = start;
    this.out = out;
    this.node = start.start();
    this.keeper = Thread.ofPlatform().daemon().name("node-of-the-host").unstarted(this::keep);
  }

  /** Starts the node, and again whenever it ends. */
  static JobNode keep(NodeStart start, PrintStream out) throws IOException {
    JobNode kept = new JobNode(start, out);
    kept.keeper.start();
    return kept;
  }

  private void keep() {
    try {
      for (int ends = 1; ; ends++) {
        int code = current().await();
        if (!startAgain(code, BACKOFF.pauseMillis(ends, Math.random()))) {
          return;
        }
      }
    } catch (IOException failure) {
      out.println("node  error: it does not start: " + failure.getMessage());
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized ContainerProcess current() {
    return node;
  }

  /** Whether the node was started again, which it is not after the end of the job. */
  private synchronized boolean startAgain(int code, long pauseMillis)
      throws IOException, InterruptedException {
    long startAt = System.nanoTime() + Duration.ofMillis(pauseMillis).toNanos();
    while (!over) {
      long left = Duration.ofNanos(startAt - System.nanoTime()).toMillis();
      if (left <= 0) {
        out.printf("node  ended with code %d before the job did; starts it again%n", code);
        node = start.start();
        return true;
      }
      wait(left);
    }
    return false;
  }

  /** Ends the node for good: asks it to, and enforces it after a time. */
  void end(Duration patience) throws InterruptedException {
    synchronized (this) {
      over = true;
      notifyAll();
    }
    keeper.interrupt();
    keeper.join();
    current().end(patience);
  }
}
