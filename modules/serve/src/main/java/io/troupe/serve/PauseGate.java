package io.troupe.serve;

import java.util.ArrayList;
import java.util.List;

/**
 * Holds requests back while a server is paused, in the order of their arrival. Once the gate is
 * closed, no request is passing through it.
 */
final class PauseGate {
  private final List<Runnable> held = new ArrayList<>(); // guarded by this
  private int passing; // guarded by this
  private boolean closed; // guarded by this

  /** Runs the work now, or once the gate opens; the work must be short. */
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

  /** Holds back all later work, and waits for the work that is passing through. */
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
