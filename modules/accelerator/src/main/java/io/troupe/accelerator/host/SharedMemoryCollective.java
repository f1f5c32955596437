package io.troupe.accelerator.host;

import static io.troupe.core.Require.require;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Ranks of one host, which exchange through a file that all of them map, best in {@code /dev/shm}.
 *
 * <p>The file begins with a counter for each rank, on a cache line of its own, and continues with a
 * slot for each rank. In an exchange a rank fills its slot and moves its counter on, waits until
 * the others' are as far, reads their slots, and moves its counter on again: no slot is written
 * before all have read it. A counter that stays behind names the rank that is lost. Waiting spins,
 * then parks ever longer: between processes there is nothing else in Java to wait on.
 *
 * <p>A group's file is used by one group: after a loss the next group has a new one.
 */
public final class SharedMemoryCollective implements Collective {
  private static final VarHandle COUNTER = ValueLayout.JAVA_LONG.varHandle();
  private static final long CACHE_LINE_BYTES = 128;
  private static final long LEFT = Long.BYTES; // after the counter, on its line
  private static final long SLOT_BYTES = 1 << 20;

  /** Looks at a counter before the thread parks. */
  private static final int SPINS = 2000;

  private static final long FIRST_PARK_NANOS = 1_000;
  private static final long LONGEST_PARK_NANOS = 200_000;

  private final int rank;
  private final int size;
  private final long slot;
  private final Duration deadline;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment file;
  private long count;
  private boolean open = true;
  private volatile boolean aborted;

  private SharedMemoryCollective(
      int rank, int size, long slot, Duration deadline, FileChannel channel) throws IOException {
    this.rank = rank;
    this.size = size;
    this.slot = slot;
    this.deadline = deadline;
    this.file =
        channel.map(FileChannel.MapMode.READ_WRITE, 0, size * (CACHE_LINE_BYTES + slot), arena);
  }

  /**
   * Joins a group.
   *
   * @param path of a file that is the group's alone; made by the first rank that comes
   * @param slotBytes for each rank, the same for all: arrays pass through in parts of this size
   * @param deadline of each exchange
   */
  public static SharedMemoryCollective join(
      Path path, int rank, int size, long slotBytes, Duration deadline) throws IOException {
    require(rank >= 0 && rank < size, "rank %d of %d ranks", rank, size);
    require(
        slotBytes >= size * CACHE_LINE_BYTES && slotBytes % CACHE_LINE_BYTES == 0,
        "a slot of %d ranks is a multiple of %d bytes, at least %d of them, not %d",
        size,
        CACHE_LINE_BYTES,
        size,
        slotBytes);
    try (FileChannel channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new SharedMemoryCollective(rank, size, slotBytes, deadline, channel);
    }
  }

  /**
   * Makes all ranks of a group as threads of this process, with a file that is deleted at once.
   *
   * @param deadline of each exchange
   */
  public static List<Collective> group(int size, Duration deadline) throws IOException {
    Path memory = Path.of("/dev/shm");
    Path file =
        Files.isWritable(memory)
            ? Files.createTempFile(memory, "troupe-ranks-", "")
            : Files.createTempFile("troupe-ranks-", "");
    try {
      List<Collective> group = new ArrayList<>();
      for (int rank = 0; rank < size; rank++) {
        group.add(join(file, rank, size, Math.max(SLOT_BYTES, size * CACHE_LINE_BYTES), deadline));
      }
      return group;
    } finally {
      Files.delete(file); // What is mapped stays.
    }
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return size;
  }

  private MemorySegment slot(int of) {
    return file.asSlice(size * CACHE_LINE_BYTES + of * slot, slot);
  }

  /** Says that this rank is done with a part of an exchange, and waits until all are. */
  private void awaitAll() throws RankLostException {
    requireNotAborted();
    count++;
    COUNTER.setRelease(file, rank * CACHE_LINE_BYTES, count);
    long until = System.nanoTime() + deadline.toNanos();
    for (int other = 0; other < size; other++) {
      long park = FIRST_PARK_NANOS;
      for (int spins = 0; true; spins++) {
        // In this order: a rank that has left may have done its part before it did.
        boolean left = (long) COUNTER.getAcquire(file, other * CACHE_LINE_BYTES + LEFT) != 0;
        if ((long) COUNTER.getAcquire(file, other * CACHE_LINE_BYTES) >= count) {
          break;
        }
        requireNotAborted();
        if (left) {
          throw new RankLostException(other, "it left");
        }
        if (spins < SPINS) {
          Thread.onSpinWait();
        } else {
          if (System.nanoTime() > until) {
            throw new RankLostException(other, "it did not come for " + deadline);
          }
          LockSupport.parkNanos(park);
          park = Math.min(2 * park, LONGEST_PARK_NANOS);
        }
      }
    }
  }

  private void requireNotAborted() throws RankLostException {
    if (aborted) {
      throw RankLostException.aborted(rank);
    }
  }

  @Override
  public void reduceScatter(Span all, Span piece) throws RankLostException {
    SpanSum.requirePieces(all, piece, size, true);
    MemorySegment whole = all.memory();
    long bytes = piece.bytes();
    long block = slot / size / Double.BYTES * Double.BYTES;
    for (long from = 0; from < bytes; from += block) {
      long length = Math.min(block, bytes - from);
      for (int r = 0; r < size; r++) {
        MemorySegment.copy(whole, r * bytes + from, slot(rank), r * block, length);
      }
      awaitAll();
      sumOfSlots(rank * block, piece, from, length);
      awaitAll();
    }
  }

  /** Sums what the ranks have put at a place of their slots, in rank order. */
  private void sumOfSlots(long offset, Span to, long from, long length) {
    SpanSum.sum(
        to.element(),
        file.asSlice(size * CACHE_LINE_BYTES + offset),
        slot,
        size,
        to.memory().asSlice(from, length));
  }

  @Override
  public void allGather(Span piece, Span all) throws RankLostException {
    SpanSum.requirePieces(all, piece, size, false);
    long bytes = piece.bytes();
    for (long from = 0; from < bytes; from += slot) {
      long length = Math.min(slot, bytes - from);
      MemorySegment.copy(piece.memory(), from, slot(rank), 0, length);
      awaitAll();
      for (int r = 0; r < size; r++) {
        MemorySegment.copy(slot(r), 0, all.memory(), r * bytes + from, length);
      }
      awaitAll();
    }
  }

  @Override
  public void allReduce(Span values) throws RankLostException {
    SpanSum.requireSummable(values);
    for (long from = 0; from < values.bytes(); from += slot) {
      long length = Math.min(slot, values.bytes() - from);
      MemorySegment.copy(values.memory(), from, slot(rank), 0, length);
      awaitAll();
      sumOfSlots(0, values, from, length);
      awaitAll();
    }
  }

  @Override
  public void broadcast(Span values, int root) throws RankLostException {
    require(root >= 0 && root < size, "rank %d of %d ranks", root, size);
    for (long from = 0; from < values.bytes(); from += slot) {
      long length = Math.min(slot, values.bytes() - from);
      if (rank == root) {
        MemorySegment.copy(values.memory(), from, slot(rank), 0, length);
      }
      awaitAll();
      if (rank != root) {
        MemorySegment.copy(slot(root), 0, values.memory(), from, length);
      }
      awaitAll();
    }
  }

  @Override
  public void allReduce(double[] values) throws RankLostException {
    require(
        values.length <= slot / Double.BYTES,
        "%d numbers do not fit into a slot of %d bytes",
        values.length,
        slot);
    MemorySegment.copy(values, 0, slot(rank), ValueLayout.JAVA_DOUBLE, 0, values.length);
    awaitAll();
    for (int i = 0; i < values.length; i++) {
      double sum = 0;
      for (int r = 0; r < size; r++) {
        sum += slot(r).getAtIndex(ValueLayout.JAVA_DOUBLE, i);
      }
      values[i] = sum;
    }
    awaitAll();
  }

  @Override
  public synchronized void abort() {
    aborted = true;
    if (open) {
      leave();
    }
  }

  private void leave() {
    COUNTER.setRelease(file, rank * CACHE_LINE_BYTES + LEFT, 1L);
  }

  @Override
  public synchronized void close() {
    if (open) {
      open = false;
      leave();
      arena.close();
    }
  }
}
