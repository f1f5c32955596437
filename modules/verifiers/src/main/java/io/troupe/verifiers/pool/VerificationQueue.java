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
 * The verifications that wait for the slots of a pool. A slot under quarantine gets no work, and
 * its current job returns to the front of the queue. Thread-safe.
 *
 * @param <T> a job
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
   * A queue for the given number of slots, numbered from 0.
   *
   * @param capacity most jobs that wait; jobs that were returned to the front do not count
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
      // The thread that wakes first may be under quarantine, so all are woken.
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The next job for a slot; waits for a job, and for the end of the slot's quarantine. */
  T take(int place) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (quarantined[place] || waiting.isEmpty()) {
        changed.await();
      }
      T job = waiting.getFirst();
      // Recorded before the job leaves the queue: if this runs out of memory, no job is lost.
      taken.set(place, Optional.of(job));
      waiting.removeFirst();
      return job;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the job of a slot.
   *
   * @return false if the job was taken from the slot before, so that its outcome is discarded
   */
  @SuppressWarnings("ReferenceEquality") // equal verifications are different jobs
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
   * Takes a slot out of service; its job returns to the front.
   *
   * @return why not: the slot is out of service already, or it is the last one in service
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
   * Returns a slot to service.
   *
   * @return why not: the slot is in service
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

  /** Returns the number of jobs that wait. */
  int size() {
    lock.lock();
    try {
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the present work of each slot, in order. */
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

  /** Returns the number of jobs that each slot has ended. */
  long[] done() {
    lock.lock();
    try {
      return Arrays.copyOf(done, done.length);
    } finally {
      lock.unlock();
    }
  }

  /** Removes all waiting jobs. */
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
