package io.troupe.serve;

import java.util.ArrayList;
import java.util.List;

/**
 * Holds requests back while a server is paused, in the order in which they came. Once it is shut,
 * none is on its way through any more.
 */
final class PauseGate {
  private final List<Runnable> held = new ArrayList<>(); // guarded by this
  private int passing; // guarded by this
  private boolean closed; // guarded by this

  /** Runs the work now, or once the gate opens; it is short. */
  void runWhenOpen(Runnable work) {
    synchronized (this) {
      if (closed) {
        held.add(work);
        return;
      }
      passing++;
    }
    runAll(List.of(work));
  }

  private void runAll(List<Runnable> work) {
    try {
      work.forEach(Runnable::run);
    } finally {
      synchronized (this) {
        passing--;
        notifyAll();
      }
    }
  }

  /** Holds back all that comes from now on; waits for what is on its way. */
  synchronized void closeAndDrain() throws InterruptedException {
    closed = true;
    while (passing > 0) {
      wait();
    }
  }

  void open() {
    List<Runnable> waiting;
    synchronized (this) {
      closed = false;
      waiting = List.copyOf(held);
      held.clear();
      passing++;
    }
    runAll(waiting);
  }

  synchronized boolean isShut() {
    return closed;
  }

  synchronized int waiting() {
    return held.size();
  }
}
