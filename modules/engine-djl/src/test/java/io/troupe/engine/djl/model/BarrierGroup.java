package io.troupe.engine.djl.model;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Ranks that are threads of a test, and read each other's arrays between two barriers. */
public final class BarrierGroup {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

  private final int size;
  private final CyclicBarrier barrier;
  private final MemorySegment[] arrays;
  private final double[][] numbers;

  private BarrierGroup(int size) {
    this.size = size;
    this.barrier = new CyclicBarrier(size);
    this.arrays = new MemorySegment[size];
    this.numbers = new double[size][];
  }

  /** A member for each rank. */
  public static List<Collective> open(int size) {
    BarrierGroup group = new BarrierGroup(size);
    List<Collective> members = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      members.add(group.new Member(rank));
    }
    return members;
  }

  private final class Member implements Collective {
    private final int rank;

    Member(int rank) {
      this.rank = rank;
    }

    private void meet() throws RankLostException {
      try {
        barrier.await(60, TimeUnit.SECONDS);
      } catch (BrokenBarrierException | TimeoutException | InterruptedException lost) {
        throw new RankLostException((rank + 1) % size, "the barrier broke", lost);
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

    @Override
    public void reduceScatter(Span whole, Span part) throws RankLostException {
      arrays[rank] = whole.memory();
      MemorySegment piece = part.memory();
      meet();
      long count = piece.byteSize() / Float.BYTES;
      for (long i = 0; i < count; i++) {
        float sum = 0;
        for (MemorySegment array : arrays) {
          sum += array.getAtIndex(FLOAT, rank * count + i);
        }
        piece.setAtIndex(FLOAT, i, sum);
      }
      meet();
    }

    @Override
    public void allGather(Span part, Span whole) throws RankLostException {
      MemorySegment piece = part.memory();
      MemorySegment all = whole.memory();
      arrays[rank] = piece;
      meet();
      for (int r = 0; r < size; r++) {
        all.asSlice(r * piece.byteSize(), piece.byteSize()).copyFrom(arrays[r]);
      }
      meet();
    }

    @Override
    public void allReduce(Span values) throws RankLostException {
      double[] sums = new double[Math.toIntExact(values.count())];
      for (int i = 0; i < sums.length; i++) {
        sums[i] = values.memory().getAtIndex(FLOAT, i);
      }
      allReduce(sums);
      for (int i = 0; i < sums.length; i++) {
        values.memory().setAtIndex(FLOAT, i, (float) sums[i]);
      }
    }

    @Override
    public void broadcast(Span values, int root) throws RankLostException {
      arrays[rank] = values.memory();
      meet();
      if (rank != root) {
        values.memory().copyFrom(arrays[root]);
      }
      meet();
    }

    @Override
    public void abort() {
      barrier.reset();
    }

    @Override
    public void allReduce(double[] values) throws RankLostException {
      numbers[rank] = values.clone();
      meet();
      for (int i = 0; i < values.length; i++) {
        double sum = 0;
        for (double[] own : numbers) {
          sum += own[i];
        }
        values[i] = sum;
      }
      meet();
    }

    @Override
    public void close() {
      barrier.reset();
    }
  }
}
