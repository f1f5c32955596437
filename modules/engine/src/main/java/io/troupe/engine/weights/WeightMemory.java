package io.troupe.engine.weights;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Native memory and mapped files of weights, which are freed some time after their last use.
 *
 * <p>Only a collection of the heap finds unused weights, and a heap that holds little but the
 * handles of gigabytes is seldom full. This class therefore requests a collection after every GiB
 * of weights; without it a worker would keep version after version, and the disk space of deleted
 * files.
 */
public final class WeightMemory {
  private static final long BYTES_BETWEEN = 1L << 30;
  private static final WeightMemory OF_THE_PROCESS = new WeightMemory(BYTES_BETWEEN, System::gc);

  private final long between;
  private final Runnable collect;
  private final AtomicLong since = new AtomicLong();

  /**
   * Creates a counter at zero.
   *
   * @param between bytes from one collection to the next
   * @param collect the heap
   */
  WeightMemory(long between, Runnable collect) {
    this.between = between;
    this.collect = collect;
  }

  /**
   * Returns an arena that is closed when its segments are unreachable. Only the memory of the
   * machine bounds its allocations.
   *
   * @param bytes that the caller will allocate or map in the arena
   */
  public static Arena arena(long bytes) {
    OF_THE_PROCESS.count(bytes);
    return new MallocArena();
  }

  /** Counts allocated bytes; when several threads pass the limit together, one of them collects. */
  void count(long bytes) {
    long before = since.getAndUpdate(sum -> sum + bytes > between ? 0 : sum + bytes);
    if (before + bytes > between) {
      collect.run();
    }
  }
}
