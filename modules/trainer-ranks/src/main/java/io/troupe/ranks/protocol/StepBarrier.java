package io.troupe.ranks.protocol;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Where ranks that have their gradient, or have joined their neighbours, wait for the others, so
 * that the limit of an exchange counts no neighbour's gradient, and nobody waits in an exchange for
 * one that is lost. Each is notified in a thread of its own: one whose connection takes nothing
 * delays no other. Safe for all threads.
 */
public final class StepBarrier {
  private final int size;
  private final Executor threads;
  private final Lock lock = new ReentrantLock();
  private final BitSet arrived = new BitSet();
  private final List<Consumer<RankProtocol.Verdict>> waiting = new ArrayList<>();
  private Optional<RankProtocol.Verdict> verdict = Optional.empty();

  /** One rank's place at the barrier. */
  public record Arrival(StepBarrier barrier, int place) {
    /** Registers a rank for the verdict, which it receives at once, or when there is one. */
    public void onVerdict(Consumer<RankProtocol.Verdict> told) {
      barrier.onVerdict(told);
    }

    public void ready() {
      barrier.ready(place);
    }

    /** Notes that the rank cannot reach another one. */
    void missed(int other, String reason) {
      barrier.abandon(other, reason);
    }
  }

  /**
   * A barrier for a number of ranks.
   *
   * @param threads that send the verdict; as many as there are ranks
   */
  public StepBarrier(int size, Executor threads) {
    this.size = size;
    this.threads = threads;
  }

  public Arrival at(int place) {
    return new Arrival(this, place);
  }

  private void onVerdict(Consumer<RankProtocol.Verdict> told) {
    lock.lock();
    try {
      waiting.add(told);
      notifyWaiting();
    } finally {
      lock.unlock();
    }
  }

  /** A rank is ready. */
  public void ready(int place) {
    lock.lock();
    try {
      arrived.set(place);
      if (verdict.isEmpty() && arrived.cardinality() == size) {
        verdict = Optional.of(new RankProtocol.Proceed());
      }
      notifyWaiting();
    } finally {
      lock.unlock();
    }
  }

  /** A rank is lost: nobody exchanges any more, unless all do already. */
  public void abandon(int place, String reason) {
    lock.lock();
    try {
      if (verdict.isEmpty()) {
        verdict = Optional.of(new RankProtocol.Abort(place, reason));
      }
      notifyWaiting();
    } finally {
      lock.unlock();
    }
  }

  private void notifyWaiting() {
    verdict.ifPresent(
        known -> {
          waiting.forEach(one -> threads.execute(() -> one.accept(known)));
          waiting.clear();
        });
  }

  /** Whether a rank waits for others. */
  public boolean isWaitingFor(int place) {
    lock.lock();
    try {
      return arrived.get(place) && verdict.isEmpty();
    } finally {
      lock.unlock();
    }
  }
}
