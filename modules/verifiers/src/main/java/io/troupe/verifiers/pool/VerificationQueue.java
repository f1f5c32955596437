package io.troupe.verifiers.pool;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What waits to be judged by the places of a pool, and who may take it: a place under quarantine
 * gets nothing, and what it was at goes to the front again. Safe for use by several threads.
 *
 * @param <T> a piece of work
 */
final class VerificationQueue<T> {
  private final int capacity;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<T> waiting = new ArrayDeque<>();
  private final List<Optional<T>> taken;
  private final boolean[] quarantined;
  private final long[] done;

  /**
   * A queue for so many places, numbered from 0.
   *
   * @param capacity most jobs that wait; those put back come on top
   */
  VerificationQueue(int capacity, int places) {
    this.capacity = capacity;
    this.taken = new ArrayList<>();
    for (int i = 0; i < places; i++) {
      taken.add(Optional.empty());
    }
    this.quarantined = new boolean[places];
    this.done = new long[places];
  }

  /** Adds a job; false if the queue is full. */
  boolean offer(T job) {
    lock.lock();
    try {
      if (waiting.size() >= capacity) {
        return false;
      }
      waiting.addLast(job);
      // Whoever is woken may be under quarantine, so all are.
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The next job of a place; waits for it, and for the end of the place's quarantine. */
  T take(int place) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (quarantined[place] || waiting.isEmpty()) {
        changed.await();
      }
      T job = waiting.getFirst();
      // Before it leaves the queue: where there is no memory for this, nothing is lost.
      taken.set(place, Optional.of(job));
      waiting.removeFirst();
      return job;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the job of a place.
   *
   * @return false if the job was taken from it meanwhile, and its outcome is nobody's
   */
  @SuppressWarnings("ReferenceEquality") // two questions may be equal, and are two jobs
  boolean done(int place, T job) {
    lock.lock();
    try {
      Optional<T> held = taken.get(place);
      boolean mine = held.isPresent() && held.get() == job;
      if (mine) {
        taken.set(place, Optional.empty());
        done[place]++;
      }
      return mine;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a place out of service; its job goes to the front.
   *
   * @return why not: it is out of service, or it is the last one in service
   */
  Optional<String> quarantine(int place) {
    lock.lock();
    try {
      if (quarantined[place]) {
        return Optional.of("it is under quarantine already");
      }
      if (inService() == 1) {
        return Optional.of("it is the last one of its pool at work; release another one first");
      }
      quarantined[place] = true;
      taken.get(place).ifPresent(waiting::addFirst);
      taken.set(place, Optional.empty());
      changed.signalAll();
      return Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Puts a place back into service.
   *
   * @return why not: it is in service
   */
  Optional<String> release(int place) {
    lock.lock();
    try {
      if (!quarantined[place]) {
        return Optional.of("it is not under quarantine");
      }
      quarantined[place] = false;
      changed.signalAll();
      return Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  private long inService() {
    int count = 0;
    for (boolean out : quarantined) {
      count += out ? 0 : 1;
    }
    return count;
  }

  /** How many wait. */
  int size() {
    lock.lock();
    try {
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  /** What the places are at, in order. */
  List<VerifierSlot.Doing> doing() {
    lock.lock();
    try {
      List<VerifierSlot.Doing> doing = new ArrayList<>();
      for (int i = 0; i < quarantined.length; i++) {
        doing.add(
            quarantined[i]
                ? VerifierSlot.Doing.QUARANTINED
                : taken.get(i).isPresent() ? VerifierSlot.Doing.JUDGING : VerifierSlot.Doing.IDLE);
      }
      return doing;
    } finally {
      lock.unlock();
    }
  }

  /** How many jobs each place has ended. */
  long[] done() {
    lock.lock();
    try {
      return Arrays.copyOf(done, done.length);
    } finally {
      lock.unlock();
    }
  }

  /** Takes out all that waits. */
  List<T> drain() {
    lock.lock();
    try {
      List<T> all = List.copyOf(waiting);
      waiting.clear();
      return all;
    } finally {
      lock.unlock();
    }
  }
}
