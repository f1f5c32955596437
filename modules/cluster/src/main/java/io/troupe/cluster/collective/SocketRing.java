package io.troupe.cluster.collective;

import static io.troupe.core.Require.require;

import io.troupe.cluster.secret.Introduction;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Ranks in a ring, each with a connection to the next. A reduction passes every number n − 1 times
 * over each link, a gather as often: as little as any order of exchange can (Patarasuk and Yuan
 * 2009). One thread sends and receives at the same time, by a selector; every exchange has a
 * deadline.
 *
 * <p>A lost rank is found by its neighbours; those farther off see the ring break up, and name the
 * neighbour that left it. Each connection begins with a proof of the run's secret on both sides.
 * What passes after it is plain: a ring is on loopback only, and other addresses are refused.
 */
public final class SocketRing implements Collective {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final long SLICE = 4L << 20;
  private static final Duration RETRY = Duration.ofMillis(20);

  private final int rank;
  private final int size;
  private final Duration deadline;
  private final Selector selector;
  private final SocketChannel next;
  private final SocketChannel previous;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment received = arena.allocate(SLICE, Long.BYTES);

  private SocketRing(
      int rank,
      int size,
      Duration deadline,
      Selector selector,
      SocketChannel next,
      SocketChannel previous) {
    this.rank = rank;
    this.size = size;
    this.deadline = deadline;
    this.selector = selector;
    this.next = next;
    this.previous = previous;
  }

  /**
   * Joins a ring; returns when both neighbours have.
   *
   * @param listener bound to this rank's address; closed when the ring stands
   * @param addresses of all ranks, in rank order, two or more
   * @param secret that all ranks of the run know
   * @param refused told who connected, did not know the secret, and was sent away
   * @param deadline of joining, and of each exchange afterwards
   * @throws RankLostException if a neighbour does not come in time, or does not know the secret
   */
  public static SocketRing join(
      int rank,
      ServerSocketChannel listener,
      List<InetSocketAddress> addresses,
      RunSecret secret,
      Consumer<String> refused,
      Duration deadline)
      throws IOException, RankLostException {
    int size = addresses.size();
    require(size >= 2, "a ring has 2 ranks or more, not %d", size);
    addresses.forEach(SocketRing::requireLoopback);
    requireLoopback(listener.getLocalAddress());
    long until = System.nanoTime() + deadline.toNanos();
    int before = Math.floorMod(rank - 1, size);
    int after = (rank + 1) % size;
    try (RingDoor door =
        RingDoor.open(before, listener, introduction(secret, before, rank, size), refused)) {
      SocketChannel next =
          connect(after, addresses.get(after), introduction(secret, rank, after, size), until);
      try {
        SocketChannel previous = door.await(until);
        Selector selector = Selector.open();
        next.configureBlocking(false);
        previous.configureBlocking(false);
        next.register(selector, 0);
        previous.register(selector, 0);
        return new SocketRing(rank, size, deadline, selector, next, previous);
      } catch (IOException | RankLostException failure) {
        next.close();
        throw failure;
      }
    }
  }

  private static void requireLoopback(SocketAddress address) {
    require(
        address instanceof InetSocketAddress internet
            && !internet.isUnresolved()
            && internet.getAddress().isLoopbackAddress(),
        "trainer ranks exchange in plain TCP, on loopback only, and not at %s; start all of them"
            + " on the head's host",
        address);
  }

  private static Introduction introduction(RunSecret secret, int from, int to, int size) {
    return new Introduction(secret, "ring of %d, rank %d to %d".formatted(size, from, to));
  }

  private static SocketChannel connect(
      int rank, InetSocketAddress address, Introduction introduction, long until)
      throws IOException, RankLostException {
    SocketChannel channel = reach(rank, address, until);
    try {
      channel.socket().setTcpNoDelay(true);
      introduction.greet(channel, Duration.ofNanos(until - System.nanoTime()));
      return channel;
    } catch (IOException unproven) {
      channel.close();
      throw new RankLostException(
          rank, "no proof of the run's secret: " + unproven.getMessage(), unproven);
    }
  }

  private static SocketChannel reach(int rank, InetSocketAddress address, long until)
      throws IOException, RankLostException {
    while (true) {
      SocketChannel channel = SocketChannel.open();
      try {
        channel.connect(address);
        return channel;
      } catch (IOException absent) {
        channel.close();
        if (System.nanoTime() >= until) {
          throw new RankLostException(rank, "nobody listens at " + address, absent);
        }
        LockSupport.parkNanos(RETRY.toNanos()); // it has not started to listen yet
      }
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
  public void reduceScatter(MemorySegment all, MemorySegment piece) throws RankLostException {
    long bytes = all.byteSize() / size;
    require(bytes == piece.byteSize(), "a piece of %d bytes for %d ranks", bytes, size);
    for (int s = 0; s < size - 1; s++) {
      MemorySegment out = part(all, rank - 1 - s, bytes);
      MemorySegment in = part(all, rank - 2 - s, bytes);
      for (long from = 0; from < bytes; from += SLICE) {
        long length = Math.min(SLICE, bytes - from);
        exchange(out.asSlice(from, length), received.asSlice(0, length));
        add(received, in.asSlice(from, length));
      }
    }
    piece.copyFrom(part(all, rank, bytes));
  }

  private static void add(MemorySegment from, MemorySegment to) {
    for (long i = 0; i < to.byteSize() / Float.BYTES; i++) {
      to.setAtIndex(FLOAT, i, to.getAtIndex(FLOAT, i) + from.getAtIndex(FLOAT, i));
    }
  }

  @Override
  public void allGather(MemorySegment piece, MemorySegment all) throws RankLostException {
    long bytes = all.byteSize() / size;
    require(bytes == piece.byteSize(), "a piece of %d bytes for %d ranks", bytes, size);
    part(all, rank, bytes).copyFrom(piece);
    gather(all, bytes);
  }

  private void gather(MemorySegment all, long bytes) throws RankLostException {
    for (int s = 0; s < size - 1; s++) {
      MemorySegment out = part(all, rank - s, bytes);
      MemorySegment in = part(all, rank - s - 1, bytes);
      for (long from = 0; from < bytes; from += SLICE) {
        long length = Math.min(SLICE, bytes - from);
        exchange(out.asSlice(from, length), in.asSlice(from, length));
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

  private MemorySegment part(MemorySegment all, int piece, long bytes) {
    return all.asSlice(Math.floorMod(piece, size) * bytes, bytes);
  }

  /** Sends to the next and receives from the previous, whichever is ready. */
  private void exchange(MemorySegment sent, MemorySegment into) throws RankLostException {
    ByteBuffer out = sent.asByteBuffer().order(ORDER);
    ByteBuffer in = into.asByteBuffer().order(ORDER);
    long until = System.nanoTime() + deadline.toNanos();
    while (out.hasRemaining() || in.hasRemaining()) {
      long millis = (until - System.nanoTime()) / 1_000_000;
      if (millis <= 0) {
        throw in.hasRemaining()
            ? new RankLostException(before(), "it sent nothing for " + deadline)
            : new RankLostException(after(), "it took nothing for " + deadline);
      }
      await(out.hasRemaining(), in.hasRemaining(), millis);
      write(out);
      read(in);
    }
  }

  private void await(boolean writing, boolean reading, long millis) throws RankLostException {
    try {
      next.keyFor(selector).interestOps(writing ? SelectionKey.OP_WRITE : 0);
      previous.keyFor(selector).interestOps(reading ? SelectionKey.OP_READ : 0);
      selector.select(_ -> {}, millis);
    } catch (IOException failure) {
      throw new RankLostException(before(), "the connection failed", failure);
    }
  }

  private void write(ByteBuffer out) throws RankLostException {
    try {
      next.write(out);
    } catch (IOException failure) {
      throw new RankLostException(after(), "it left", failure);
    }
  }

  private void read(ByteBuffer in) throws RankLostException {
    try {
      if (in.hasRemaining() && previous.read(in) < 0) {
        throw new RankLostException(before(), "it left");
      }
    } catch (IOException failure) {
      throw new RankLostException(before(), "it left", failure);
    }
  }

  private int before() {
    return Math.floorMod(rank - 1, size);
  }

  private int after() {
    return (rank + 1) % size;
  }

  @Override
  public void close() {
    try (next;
        previous;
        selector) {
      arena.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
