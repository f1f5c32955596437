package io.troupe.engine.http.serve;

import java.util.ArrayList;
import java.util.List;

/** Holds requests back while a server is paused, in the order in which they came. */
final class Gate {
  private final List<Runnable> held = new ArrayList<>();
  private boolean closed;

  /** Runs the work now, or once the gate opens. */
  void pass(Runnable work) {
    synchronized (this) {
      if (closed) {
        held.add(work);
        return;
      }
    }
    work.run();
  }

  synchronized void shut() {
    closed = true;
  }

  void open() {
    List<Runnable> waiting;
    synchronized (this) {
      closed = false;
      waiting = List.copyOf(held);
      held.clear();
    }
    waiting.forEach(Runnable::run);
  }

  synchronized boolean isShut() {
    return closed;
  }

  synchronized int waiting() {
    return held.size();
  }
}
