package io.troupe.accelerator.nccl;

import static io.troupe.core.Require.require;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rank of a group of NCCL, on a stream of its own. Each call waits for its result: it polls the
 * stream and NCCL's asynchronous error until the group's deadline, so that nothing waits inside the
 * libraries and another thread can abort.
 *
 * <p>NCCL frees a communicator that is aborted. So each call to NCCL holds the lock, and looks
 * first whether the communicator exists; no such call blocks, because the library's calls are
 * non-blocking.
 *
 * <p>The caller has written its spans before it calls: the stream waits for no other one.
 */
public final class NcclCollective implements Collective {
  private static final Logger LOG = LoggerFactory.getLogger(NcclCollective.class);
  private static final int SPINS = 200;
  private static final long LONGEST_PARK = 200_000;
  private static final int MOST_NUMBERS = 1024;

  private final NcclLibrary nccl;
  private final CudaRuntime cuda;
  private final int rank;
  private final int size;
  private final Duration deadline;
  private final MemorySegment stream;
  private final Span numbers;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment communicator = arena.allocate(ValueLayout.ADDRESS);
  private boolean usable;
  private boolean aborted;
  private boolean open = true;

  private NcclCollective(Libraries libraries, int rank, int size, Duration deadline) {
    this.nccl = libraries.nccl;
    this.cuda = libraries.cuda;
    this.rank = rank;
    this.size = size;
    this.deadline = deadline;
    this.stream = cuda.newStream();
    long bytes = (long) MOST_NUMBERS * Double.BYTES;
    this.numbers = Span.onDevice(cuda.allocate(bytes), bytes, Span.Element.F64);
  }

  /** The two libraries of an environment. */
  public record Libraries(NcclLibrary nccl, CudaRuntime cuda) {}

  /**
   * Joins a group, on the device of this thread; returns when all ranks have.
   *
   * @param id of the group, from one of its ranks
   * @param deadline of joining, and of each operation afterwards
   * @throws RankLostException if a rank does not come in time, or NCCL refuses the group
   */
  public static NcclCollective join(
      Libraries libraries, NcclUniqueId id, int rank, int size, Duration deadline)
      throws RankLostException {
    return join(libraries, id, rank, size, deadline, () -> false);
  }

  /**
   * Joins a group unless it is given up meanwhile.
   *
   * @param givenUp whether another rank is known not to come
   */
  public static NcclCollective join(
      Libraries libraries,
      NcclUniqueId id,
      int rank,
      int size,
      Duration deadline,
      BooleanSupplier givenUp)
      throws RankLostException {
    require(rank >= 0 && rank < size, "rank %d of %d ranks", rank, size);
    NcclCollective group = new NcclCollective(libraries, rank, size, deadline);
    boolean joined = false;
    try {
      group.join(id, givenUp);
      joined = true;
      return group;
    } finally {
      if (!joined) {
        group.close();
      }
    }
  }

  private void join(NcclUniqueId id, BooleanSupplier givenUp) throws RankLostException {
    NcclResult begun;
    synchronized (this) {
      begun = nccl.beginJoin(communicator, size, id, rank);
      usable = !handle().equals(MemorySegment.NULL);
    }
    if (!begun.fine()) {
      throw refused(begun);
    }
    long until = System.nanoTime() + deadline.toNanos();
    await(
        "did not join the group",
        until,
        () -> {
          if (givenUp.getAsBoolean()) {
            throw new RankLostException(other(), "it does not join the group");
          }
          return joined();
        });
  }

  private MemorySegment handle() {
    return communicator.get(ValueLayout.ADDRESS, 0);
  }

  private boolean joined() throws RankLostException {
    NcclResult state = nccl.asyncError(handle());
    if (!state.fine()) {
      throw refused(state);
    }
    return state == NcclResult.SUCCESS;
  }

  private RankLostException refused(NcclResult result) {
    String words = words();
    String advice =
        switch (result) {
          case INVALID_USAGE ->
              ("; all ranks and inference servers must load one NCCL, this one is %s of %s: point"
                      + " VLLM_NCCL_SO_PATH at the same file everywhere, and give each rank a GPU")
                  .formatted(nccl.version(), nccl.file());
          case CUDA_ERROR -> "; is there a driver and a free GPU? look with `nvidia-smi`";
          default -> "";
        };
    return new RankLostException(
        other(), "NCCL refuses the group: %s%s%s".formatted(result, words, advice));
  }

  private synchronized String words() {
    String last = usable ? nccl.lastError(handle()) : "";
    return last.isEmpty() ? "" : ": " + last;
  }

  /**
   * Returns the lost rank as far as it is known: NCCL does not name it; in a group of two it is the
   * other rank.
   */
  private int other() {
    return (rank + 1) % size;
  }

  private interface Check {
    boolean done() throws RankLostException;
  }

  /** Polls until a check holds, the deadline passes or the group is aborted. */
  private void await(String late, long until, Check check) throws RankLostException {
    long park = 1000;
    for (int spins = 0; !passes(check); spins++) {
      if (System.nanoTime() > until) {
        abandon();
        throw new RankLostException(
            other(), "a rank %s for %s; NCCL does not name it".formatted(late, deadline));
      }
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(park);
        park = Math.min(2 * park, LONGEST_PARK);
      }
    }
  }

  private synchronized boolean passes(Check check) throws RankLostException {
    requireUsable();
    try {
      return check.done();
    } catch (RankLostException | AcceleratorException failure) {
      abandon();
      throw failure;
    }
  }

  private void requireUsable() throws RankLostException {
    if (aborted) {
      throw RankLostException.aborted(rank);
    }
    if (!usable) {
      throw new RankLostException(other(), "the group has lost a rank");
    }
  }

  private interface Launch {
    NcclResult on(MemorySegment communicator);
  }

  /** Starts an operation and waits until the stream is done with it. */
  private void run(Launch launch) throws RankLostException {
    long until = System.nanoTime() + deadline.toNanos();
    await(
        "could not begin an operation",
        until,
        () -> {
          requireFine(launch.on(handle()));
          return true;
        });
    await("did not take part", until, () -> launched() && cuda.isDone(stream));
  }

  private boolean launched() throws RankLostException {
    NcclResult state = nccl.asyncError(handle());
    requireFine(state);
    return state == NcclResult.SUCCESS;
  }

  private void requireFine(NcclResult result) throws RankLostException {
    if (!result.fine()) {
      throw new RankLostException(
          other(), "NCCL reports %s%s; it does not name the rank".formatted(result, words()));
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
  public void reduceScatter(Span all, Span piece) throws RankLostException {
    requirePieces(all, piece);
    run(on -> nccl.reduceScatter(all, piece, on, stream));
  }

  @Override
  public void allGather(Span piece, Span all) throws RankLostException {
    requirePieces(all, piece);
    run(on -> nccl.allGather(piece, all, on, stream));
  }

  private void requirePieces(Span all, Span piece) {
    require(
        all.element() == piece.element() && piece.bytes() * size == all.bytes(),
        "a piece of %d bytes of %s for %d ranks of a span of %d bytes of %s",
        piece.bytes(),
        piece.element(),
        size,
        all.bytes(),
        all.element());
  }

  @Override
  public void allReduce(Span values) throws RankLostException {
    run(on -> nccl.allReduce(values, on, stream));
  }

  @Override
  public void allReduce(double[] values) throws RankLostException {
    int count = Math.max(1, values.length); // a barrier sums a number too
    require(count <= MOST_NUMBERS, "%d numbers, and at most %d are summed", count, MOST_NUMBERS);
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment host = scratch.allocate(ValueLayout.JAVA_DOUBLE, count);
      MemorySegment.copy(values, 0, host, ValueLayout.JAVA_DOUBLE, 0, values.length);
      Span own = numbers.slice(0, count);
      copy(host.address(), own.address(), host.byteSize());
      allReduce(own);
      copy(own.address(), host.address(), host.byteSize());
      MemorySegment.copy(host, ValueLayout.JAVA_DOUBLE, 0, values, 0, values.length);
    }
  }

  private void copy(long from, long to, long bytes) throws RankLostException {
    long until = System.nanoTime() + deadline.toNanos();
    await(
        "could not copy",
        until,
        () -> {
          cuda.copy(from, to, bytes, stream);
          return true;
        });
    await("could not copy", until, () -> cuda.isDone(stream));
  }

  @Override
  public void broadcast(Span values, int root) throws RankLostException {
    require(root >= 0 && root < size, "rank %d of %d ranks", root, size);
    run(on -> nccl.broadcast(values, root, on, stream));
  }

  @Override
  public synchronized void abort() {
    aborted = true;
    abandon();
  }

  /** Ends what the device does for the group; the communicator is gone then. */
  private synchronized void abandon() {
    if (usable) {
      usable = false;
      NcclResult result = nccl.abort(handle());
      if (!result.fine()) {
        LOG.warn("event=nccl_abort_failed rank={} result=\"{}\"", rank, result);
      }
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (!open) {
        return;
      }
      open = false;
      if (usable) {
        usable = false;
        NcclResult result = nccl.destroy(handle());
        if (!result.fine()) {
          LOG.warn("event=nccl_destroy_failed rank={} result=\"{}\"", rank, result);
        }
      }
    }
    try {
      cuda.free(numbers.address());
      cuda.destroy(stream);
    } catch (AcceleratorException sticky) {
      LOG.warn("event=cuda_release_failed rank={} reason=\"{}\"", rank, sticky.getMessage());
    }
  }
}
