package io.troupe.engine.weights;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Native memory and mapped files of weights that go some time after nobody uses them.
 *
 * <p>Only a collection of the heap finds that out, and a heap that holds little but the handles of
 * gigabytes is seldom full. So one is asked for after every GiB of weights; until then a worker
 * would keep version after version, and the disk space of files that are deleted already.
 */
public final class WeightMemory {
  private static final long BYTES_BETWEEN = 1L << 30;
  private static final WeightMemory OF_THE_PROCESS = new WeightMemory(BYTES_BETWEEN, System::gc);

  private final long between;
  private final Runnable collect;
  private final AtomicLong since = new AtomicLong();

  /**
   * Memory that nothing is counted of yet.
   *
   * @param between bytes from one collection to the next
   * @param collect the heap
   */
  WeightMemory(long between, Runnable collect) {
    this.between = between;
    this.collect = collect;
  }

  /**
   * An arena that is closed when nobody can reach its segments any more. What it allocates is
   * bounded by the machine's memory alone.
   *
   * @param bytes that will be allocated or mapped in it
   */
  public static Arena arena(long bytes) {
    OF_THE_PROCESS.count(bytes);
    return new MallocArena();
  }

  /** Of several threads that pass the limit together one collects. */
  void count(long bytes) {
    long before = since.getAndUpdate(sum -> sum + bytes > between ? 0 : sum + bytes);
    if (before + bytes > between) {
      collect.run();
    }
  }
}
