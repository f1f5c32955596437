package io.troupe.accelerator.host;

import static io.troupe.core.Require.require;

import io.troupe.base.failure.Closing;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionDeadline;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PeerHandshake;
import io.troupe.net.secret.RunSecret;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Ranks in a ring, each with a connection to the next, plain or TLS. A reduction passes every
 * number n − 1 times over each link, a gather as often: as little as any order of exchange can
 * (Patarasuk and Yuan 2009). A rank sends in its own thread and receives in another one, so that no
 * order of calls can deadlock; every exchange has a deadline.
 *
 * <p>A lost rank is found by its neighbours; those farther off see the ring break up, and name the
 * neighbour that left it. Each connection begins with a proof of the run's secret on both sides.
 */
public final class SocketRing implements Collective {
  private static final long SLICE = 4L << 20;
  private static final Duration RETRY = Duration.ofMillis(20);

  /** The limit of one attempt to connect: a host that is gone answers nothing at all. */
  private static final Duration ATTEMPT = Duration.ofSeconds(5);

  private final int rank;
  private final int size;
  private final Duration deadline;
  private final Connection next;
  private final Connection previous;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment received = arena.allocate(SLICE, Long.BYTES);
  private final ExecutorService receiver =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("ring-receiver").factory());

  private final LongAdder sent = new LongAdder();
  private volatile boolean aborted;

  private SocketRing(int rank, int size, Duration deadline, Connection next, Connection previous) {
    this.rank = rank;
    this.size = size;
    this.deadline = deadline;
    this.next = next;
    this.previous = previous;
  }

  /**
   * Joins a ring; returns when both neighbours have.
   *
   * @param endpoint connections between the ranks
   * @param listener at this rank's address; closed when the ring is made, and by a thread that
   *     knows that it will not, which ends the waiting for either neighbour
   * @param addresses of all ranks, in rank order, two or more
   * @param secret that all ranks of the run know
   * @param refused takes who connected, did not know the secret, and was refused
   * @param deadline of joining, and of each exchange afterwards
   * @throws RankLostException if a neighbour does not come in time, or does not know the secret
   * @throws IOException if the endpoint may not go to one of the addresses, or the listener was
   *     closed
   */
  public static SocketRing join(
      int rank,
      ConnectionFactory endpoint,
      ConnectionFactory.Listener listener,
      List<InetSocketAddress> addresses,
      RunSecret secret,
      Consumer<String> refused,
      Duration deadline)
      throws IOException, RankLostException {
    int size = addresses.size();
    require(size >= 2, "a ring has 2 ranks or more, not %d", size);
    long until = System.nanoTime() + deadline.toNanos();
    int before = Math.floorMod(rank - 1, size);
    int after = (rank + 1) % size;
    try (RingAcceptor acceptor =
        RingAcceptor.open(before, listener, introduction(secret, before, rank, size), refused)) {
      Connection next =
          connect(
              after,
              endpoint,
              addresses.get(after),
              introduction(secret, rank, after, size),
              acceptor,
              until);
      try {
        return new SocketRing(rank, size, deadline, next, acceptor.await(until));
      } catch (IOException | RankLostException failure) {
        next.close();
        throw failure;
      }
    }
  }

  private static PeerHandshake introduction(RunSecret secret, int from, int to, int size) {
    return new PeerHandshake(secret, "ring of %d, rank %d to %d".formatted(size, from, to));
  }

  private static Connection connect(
      int rank,
      ConnectionFactory endpoint,
      InetSocketAddress address,
      PeerHandshake introduction,
      RingAcceptor acceptor,
      long until)
      throws IOException, RankLostException {
    Optional<String> objection = endpoint.objection(address);
    if (objection.isPresent()) {
      throw new IOException("trainer rank %d: %s".formatted(rank, objection.get()));
    }
    Connection wire = reach(rank, endpoint, address, acceptor, until);
    acceptor.watchForClose(wire);
    try {
      introduction.asClient(wire, remaining(until));
      return wire;
    } catch (IOException unproven) {
      wire.close();
      throw new RankLostException(
          rank, "no proof of the run's secret: " + unproven.getMessage(), unproven);
    }
  }

  private static Connection reach(
      int rank,
      ConnectionFactory endpoint,
      InetSocketAddress address,
      RingAcceptor acceptor,
      long until)
      throws RankLostException {
    while (true) {
      try {
        Duration left = remaining(until);
        return endpoint.connect(address, left.compareTo(ATTEMPT) < 0 ? left : ATTEMPT);
      } catch (IOException absent) {
        if (System.nanoTime() >= until || acceptor.isShut()) {
          throw new RankLostException(rank, "nobody listens at " + address, absent);
        }
        LockSupport.parkNanos(RETRY.toNanos()); // it has not started to listen yet
      }
    }
  }

  private static Duration remaining(long until) {
    return Duration.ofNanos(Math.max(1_000_000, until - System.nanoTime()));
  }

  /** Returns the bytes that this rank has sent to the next one. */
  public long sentBytes() {
    return sent.sum();
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
    SpanSum.requirePieces(all, piece, size, true);
    reduce(all.memory(), all.element());
    piece.memory().copyFrom(part(all.memory(), rank, piece.bytes()));
  }

  /** Sums an array over the ranks; each has the sum of its own piece in the end. */
  private void reduce(MemorySegment all, Span.Element element) throws RankLostException {
    long bytes = all.byteSize() / size;
    for (int s = 0; s < size - 1; s++) {
      MemorySegment out = part(all, rank - 1 - s, bytes);
      MemorySegment in = part(all, rank - 2 - s, bytes);
      for (long from = 0; from < bytes; from += SLICE) {
        long length = Math.min(SLICE, bytes - from);
        exchange(out.asSlice(from, length), length);
        SpanSum.add(element, received, in.asSlice(from, length));
      }
    }
  }

  @Override
  public void allGather(Span piece, Span all) throws RankLostException {
    SpanSum.requirePieces(all, piece, size, false);
    part(all.memory(), rank, piece.bytes()).copyFrom(piece.memory());
    gather(all.memory(), piece.bytes());
  }

  private void gather(MemorySegment all, long bytes) throws RankLostException {
    for (int s = 0; s < size - 1; s++) {
      MemorySegment out = part(all, rank - s, bytes);
      MemorySegment in = part(all, rank - s - 1, bytes);
      for (long from = 0; from < bytes; from += SLICE) {
        long length = Math.min(SLICE, bytes - from);
        exchange(out.asSlice(from, length), length);
        in.asSlice(from, length).copyFrom(received.asSlice(0, length));
      }
    }
  }

  @Override
  public void allReduce(Span values) throws RankLostException {
    SpanSum.requireSummable(values);
    long piece = Math.ceilDiv(values.count(), size) * values.element().bytes();
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment all = scratch.allocate(piece * size, Long.BYTES);
      MemorySegment.copy(values.memory(), 0, all, 0, values.bytes());
      reduce(all, values.element());
      gather(all, piece);
      values.memory().copyFrom(all.asSlice(0, values.bytes()));
    }
  }

  @Override
  public void broadcast(Span values, int root) throws RankLostException {
    require(root >= 0 && root < size, "rank %d of %d ranks", root, size);
    for (long from = 0; from < values.bytes(); from += SLICE) {
      MemorySegment slice = values.memory().asSlice(from, Math.min(SLICE, values.bytes() - from));
      if (rank != root) {
        exchange(slice.asSlice(0, 0), slice.byteSize());
        slice.copyFrom(received.asSlice(0, slice.byteSize()));
      }
      if (after() != root) {
        exchange(slice, 0);
      }
    }
  }

  @Override
  public void allReduce(double[] values) throws RankLostException {
    long bytes = Math.max(1, values.length) * (long) Double.BYTES; // a barrier sends something too
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment all = scratch.allocate(bytes * size, Long.BYTES);
      MemorySegment.copy(
          values, 0, part(all, rank, bytes), ValueLayout.JAVA_DOUBLE, 0, values.length);
      gather(all, bytes);
      for (int i = 0; i < values.length; i++) {
        double sum = 0;
        for (int r = 0; r < size; r++) {
          sum += part(all, r, bytes).getAtIndex(ValueLayout.JAVA_DOUBLE, i);
        }
        values[i] = sum;
      }
    }
  }

  /**
   * Sends bytes to the next rank and receives as many from the previous one.
   *
   * @param piece of the same length on every rank
   * @param from gets what the previous rank has sent
   * @throws RankLostException if a neighbour does not take part in time, or the group is aborted
   */
  public void passOn(MemorySegment piece, MemorySegment from) throws RankLostException {
    for (long at = 0; at < piece.byteSize(); at += SLICE) {
      long length = Math.min(SLICE, piece.byteSize() - at);
      exchange(piece.asSlice(at, length), length);
      from.asSlice(at, length).copyFrom(received.asSlice(0, length));
    }
  }

  private MemorySegment part(MemorySegment all, int piece, long bytes) {
    return all.asSlice(Math.floorMod(piece, size) * bytes, bytes);
  }

  /**
   * Sends {@code out} to the next rank, and receives from the previous one into {@link #received}.
   *
   * @param expected bytes to receive
   */
  private void exchange(MemorySegment out, long expected) throws RankLostException {
    if (aborted) {
      throw RankLostException.aborted(rank);
    }
    ConnectionDeadline limit = ConnectionDeadline.of(deadline, next, previous);
    Future<Boolean> coming =
        receiver.submit(
            () -> {
              previous.readFully(received.asSlice(0, expected).asByteBuffer());
              return true;
            });
    try {
      next.write(out.asByteBuffer());
      sent.add(out.byteSize());
      var _ = coming.get();
    } catch (IOException failure) {
      throw lost(after(), limit.cancel(), coming, failure);
    } catch (ExecutionException failure) {
      throw lost(before(), limit.cancel(), coming, failure);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw lost(rank, true, coming, stopped);
    }
    if (!limit.cancel()) {
      throw lost(before(), false, coming, new IOException("the deadline has passed"));
    }
  }

  /** Ends the exchange, and says who is at fault. */
  private RankLostException lost(
      int neighbour, boolean inTime, Future<Boolean> coming, Throwable failure) {
    boolean silent = !inTime && coming.state() != Future.State.SUCCESS;
    closeConnections();
    if (aborted) {
      return RankLostException.aborted(rank);
    }
    if (silent) {
      return new RankLostException(before(), "it sent nothing for " + deadline, failure);
    }
    return new RankLostException(
        neighbour, inTime ? "it left" : "it took nothing for " + deadline, failure);
  }

  private int before() {
    return Math.floorMod(rank - 1, size);
  }

  private int after() {
    return (rank + 1) % size;
  }

  private void closeConnections() {
    // A rank that waits for this one sees it leave.
    Closing.quietly(previous);
    Closing.quietly(next);
  }

  @Override
  public void abort() {
    aborted = true;
    closeConnections();
  }

  @Override
  public void close() {
    closeConnections();
    receiver.close();
    arena.close();
  }
}
