package io.troupe.cluster.ranks;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Where ranks that have their gradient wait for the others, so that the limit of an exchange counts
 * no neighbour's gradient, and nobody waits in an exchange for one that is lost. Safe for all
 * threads.
 */
final class StepGate {
  private final int size;
  private final Lock lock = new ReentrantLock();
  private final BitSet arrived = new BitSet();
  private final List<Consumer<RankTalk.Verdict>> waiting = new ArrayList<>();
  private Optional<RankTalk.Verdict> verdict = Optional.empty();

  /** A gate for so many ranks. */
  StepGate(int size) {
    this.size = size;
  }

  /** A rank is ready; it is told the verdict, at once or when there is one. */
  void ready(int place, Consumer<RankTalk.Verdict> told) {
    lock.lock();
    try {
      arrived.set(place);
      waiting.add(told);
      if (verdict.isEmpty() && arrived.cardinality() == size) {
        verdict = Optional.of(new RankTalk.Go());
      }
      tell();
    } finally {
      lock.unlock();
    }
  }

  /** A rank is lost: nobody exchanges any more, unless all do already. */
  void abandon(int place, String reason) {
    lock.lock();
    try {
      if (verdict.isEmpty()) {
        verdict = Optional.of(new RankTalk.Abandon(place, reason));
      }
      tell();
    } finally {
      lock.unlock();
    }
  }

  private void tell() {
    verdict.ifPresent(
        known -> {
          waiting.forEach(one -> one.accept(known));
          waiting.clear();
        });
  }

  /** Whether a rank waits for others. */
  boolean holds(int place) {
    lock.lock();
    try {
      return arrived.get(place) && verdict.isEmpty();
    } finally {
      lock.unlock();
    }
  }
}
