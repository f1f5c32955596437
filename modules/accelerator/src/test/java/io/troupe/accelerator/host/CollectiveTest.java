package io.troupe.accelerator.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.ShardedAdamW;
import io.troupe.engine.parallel.Span;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PeerHandshake;
import io.troupe.net.secret.RunSecret;
import io.troupe.net.tls.CertificateAuthority;
import io.troupe.net.tls.HostKeys;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class CollectiveTest {
  private static final Duration PATIENT = Duration.ofSeconds(60);
  private static final OptimizerSettings OPTIMISATION =
      new OptimizerSettings(1e-2, .9, .95, 1e-8, .1, 1);
  private static final int PARAMETERS = 1003;
  private static final int DECAYED = 700;

  private static final RunSecret SECRET = RunSecret.random();

  @TempDir Path folder;

  @TempDir private static Path keys;
  private static ConnectionFactory encrypted = ConnectionFactory.onLoopback();

  private final List<String> refused = new CopyOnWriteArrayList<>();

  enum Way {
    MEMORY,
    SOCKETS,
    TLS
  }

  @BeforeAll
  static void issue() throws IOException {
    encrypted = endpoint("ours");
  }

  /** Returns connections with keys of an authority of the test's own. */
  private static ConnectionFactory endpoint(String authority) throws IOException {
    HostKeys issued =
        CertificateAuthority.init(keys.resolve(authority), "troupe")
            .issue("ranks", IntStream.range(0, 4).mapToObj(CollectiveTest::host).toList(), 90);
    return new ConnectionFactory.Tls(issued.context());
  }

  private static String host(int rank) {
    return "127.0.0." + (rank + 1);
  }

  /** The work of a rank. */
  private interface Work<T> {
    T of(Collective ranks) throws Exception;
  }

  private <T> List<Future<T>> start(
      Way way, int size, Duration deadline, ExecutorService threads, Work<T> work)
      throws IOException {
    ConnectionFactory endpoint = way == Way.TLS ? encrypted : ConnectionFactory.onLoopback();
    List<ConnectionFactory.Listener> listeners = new ArrayList<>();
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (int r = 0; r < size; r++) {
      ConnectionFactory.Listener listener = endpoint.listen(new InetSocketAddress(host(r), 0));
      listeners.add(listener);
      addresses.add(listener.address());
    }
    Path file = folder.resolve("group-" + System.nanoTime());
    return IntStream.range(0, size)
        .mapToObj(
            rank -> {
              Callable<T> task =
                  () -> {
                    try (Collective ranks =
                        size == 1
                            ? Collective.alone()
                            : switch (way) {
                              case MEMORY ->
                                  SharedMemoryCollective.join(file, rank, size, 1024, deadline);
                              case SOCKETS, TLS ->
                                  SocketRing.join(
                                      rank,
                                      endpoint,
                                      listeners.get(rank),
                                      addresses,
                                      SECRET,
                                      refused::add,
                                      deadline);
                            }) {
                      return work.of(ranks);
                    }
                  };
              return threads.submit(task);
            })
        .toList();
  }

  private <T> List<T> run(Way way, int size, Work<T> work) throws Exception {
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<T> results = new ArrayList<>();
      for (Future<T> future : start(way, size, PATIENT, threads, work)) {
        results.add(future.get(120, TimeUnit.SECONDS));
      }
      return results;
    }
  }

  private static MemorySegment floats(Arena arena, long count) {
    return arena.allocate(count * Float.BYTES, 8);
  }

  @ParameterizedTest
  @CsvSource({"MEMORY,2", "MEMORY,4", "SOCKETS,2", "SOCKETS,4", "TLS,4"})
  void exchanges_anyLength_giveTheSumsAndThePieces(Way way, int size) throws Exception {
    int piece = 777;
    run(
        way,
        size,
        ranks -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = floats(arena, (long) piece * size);
            for (int i = 0; i < piece * size; i++) {
              all.setAtIndex(ValueLayout.JAVA_FLOAT, i, i + 10_000f * ranks.rank());
            }
            MemorySegment own = floats(arena, piece);
            ranks.reduceScatter(Span.floats(all), Span.floats(own));
            float offsets = 10_000f * size * (size - 1) / 2;
            for (int i = 0; i < piece; i++) {
              assertThat(own.getAtIndex(ValueLayout.JAVA_FLOAT, i))
                  .isEqualTo((float) size * (ranks.rank() * piece + i) + offsets);
              own.setAtIndex(ValueLayout.JAVA_FLOAT, i, ranks.rank() * piece + i);
            }
            ranks.allGather(Span.floats(own), Span.floats(all));
            for (int i = 0; i < piece * size; i++) {
              assertThat(all.getAtIndex(ValueLayout.JAVA_FLOAT, i)).isEqualTo(i);
            }
            double[] sums = {1, ranks.rank()};
            ranks.allReduce(sums);
            assertThat(sums).containsExactly(size, size * (size - 1) / 2.0);
            ranks.barrier();
            return true;
          }
        });
  }

  @ParameterizedTest
  @CsvSource({"MEMORY,2", "MEMORY,3", "SOCKETS,2", "SOCKETS,3", "TLS,3"})
  void allReduce_lengthThatRanksDoNotDivide_isTheSumOnEveryRank(Way way, int size)
      throws Exception {
    for (Span.Element element : List.of(Span.Element.F32, Span.Element.F64, Span.Element.BF16)) {
      run(
          way,
          size,
          ranks -> {
            try (Arena arena = Arena.ofConfined()) {
              Span values = Span.of(arena.allocate(1001L * element.bytes(), 8), element);
              for (int i = 0; i < 1001; i++) {
                put(values, i, i % 50 + ranks.rank());
              }
              ranks.allReduce(values);
              for (int i = 0; i < 1001; i++) {
                assertThat(get(values, i)).isEqualTo(i % 50 * size + size * (size - 1) / 2.0);
              }
              return true;
            }
          });
    }
  }

  @ParameterizedTest
  @CsvSource({"MEMORY,2", "MEMORY,4", "SOCKETS,2", "SOCKETS,4", "TLS,3"})
  void reduceScatter_bfloat16OfExactSums_givesTheSums(Way way, int size) throws Exception {
    run(
        way,
        size,
        ranks -> {
          try (Arena arena = Arena.ofConfined()) {
            Span all = Span.of(arena.allocate(2L * 300 * size, 8), Span.Element.BF16);
            for (int i = 0; i < all.count(); i++) {
              put(all, i, i % 32 + ranks.rank());
            }
            Span piece = Span.of(arena.allocate(600, 8), Span.Element.BF16);
            ranks.reduceScatter(all, piece);
            for (int i = 0; i < 300; i++) {
              assertThat(get(piece, i))
                  .isEqualTo((300 * ranks.rank() + i) % 32 * size + size * (size - 1) / 2.0);
            }
            ranks.allGather(piece, all);
            for (int i = 0; i < all.count(); i++) {
              assertThat(get(all, i)).isEqualTo(i % 32 * size + size * (size - 1) / 2.0);
            }
            return true;
          }
        });
  }

  @ParameterizedTest
  @CsvSource({"MEMORY,2", "MEMORY,4", "SOCKETS,2", "SOCKETS,4", "TLS,3"})
  void broadcast_everyRoot_copiesItsBytesToAll(Way way, int size) throws Exception {
    run(
        way,
        size,
        ranks -> {
          try (Arena arena = Arena.ofConfined()) {
            Span values = Span.of(arena.allocate(5001, 1), Span.Element.U8);
            for (int root = 0; root < size; root++) {
              values.memory().fill((byte) (100 + ranks.rank()));
              values.memory().set(ValueLayout.JAVA_BYTE, 5000, (byte) ranks.rank());
              ranks.broadcast(values, root);
              assertThat(values.memory().get(ValueLayout.JAVA_BYTE, 0))
                  .isEqualTo((byte) (100 + root));
              assertThat(values.memory().get(ValueLayout.JAVA_BYTE, 5000)).isEqualTo((byte) root);
            }
            return true;
          }
        });
  }

  @Test
  void allReduce_bytes_isRefused() throws Exception {
    run(
        Way.MEMORY,
        2,
        ranks -> {
          Span bytes = Span.of(MemorySegment.ofArray(new byte[8]), Span.Element.U8);
          assertThatThrownBy(() -> ranks.allReduce(bytes)).hasMessage("bytes have no sum");
          return true;
        });
  }

  private static void put(Span span, long index, double value) {
    switch (span.element()) {
      case F32 -> span.memory().setAtIndex(ValueLayout.JAVA_FLOAT, index, (float) value);
      case F64 -> span.memory().setAtIndex(ValueLayout.JAVA_DOUBLE, index, value);
      case BF16 ->
          span.memory().setAtIndex(ValueLayout.JAVA_SHORT, index, DType.bfloat16((float) value));
      case U8 -> span.memory().setAtIndex(ValueLayout.JAVA_BYTE, index, (byte) value);
    }
  }

  private static double get(Span span, long index) {
    return switch (span.element()) {
      case F32 -> span.memory().getAtIndex(ValueLayout.JAVA_FLOAT, index);
      case F64 -> span.memory().getAtIndex(ValueLayout.JAVA_DOUBLE, index);
      case BF16 ->
          Float.intBitsToFloat(span.memory().getAtIndex(ValueLayout.JAVA_SHORT, index) << 16);
      case U8 -> span.memory().getAtIndex(ValueLayout.JAVA_BYTE, index);
    };
  }

  /** The part of a step's gradient that a rank computes of its sequences. */
  private static float part(int step, int sequence, int parameter) {
    return (float)
        new SplittableRandom(step * 1_000_003L + sequence * 1009L + parameter).nextDouble(-1, 1);
  }

  /** AdamW's means of all parameters, put together from the ranks' pieces. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Means(float[] first, float[] second) {
    static Means zero() {
      return new Means(new float[PARAMETERS], new float[PARAMETERS]);
    }

    void keep(int rank, ShardedAdamW optimizer) {
      int piece = Math.toIntExact(optimizer.first().byteSize() / Float.BYTES);
      int held = Math.clamp((long) PARAMETERS - (long) rank * piece, 0, piece);
      int at = Math.min(PARAMETERS, rank * piece);
      MemorySegment.copy(optimizer.first(), ValueLayout.JAVA_FLOAT, 0, first, at, held);
      MemorySegment.copy(optimizer.second(), ValueLayout.JAVA_FLOAT, 0, second, at, held);
    }
  }

  /** Trains on 8 sequences a step, divided among the ranks; the weights at the end. */
  private static float[] train(Collective ranks, int from, int to, Means means, float[] start)
      throws Exception {
    try (Arena arena = Arena.ofConfined();
        ShardedAdamW optimizer = new ShardedAdamW(ranks, PARAMETERS, DECAYED)) {
      MemorySegment weights = floats(arena, optimizer.padded());
      MemorySegment.copy(start, 0, weights, ValueLayout.JAVA_FLOAT, 0, PARAMETERS);
      optimizer.take(MemorySegment.ofArray(means.first), MemorySegment.ofArray(means.second), from);
      for (int step = from; step < to; step++) {
        MemorySegment gradients = floats(arena, optimizer.padded());
        for (int s = ranks.rank(); s < 8; s += ranks.size()) {
          for (int p = 0; p < PARAMETERS; p++) {
            gradients.setAtIndex(
                ValueLayout.JAVA_FLOAT,
                p,
                gradients.getAtIndex(ValueLayout.JAVA_FLOAT, p) + part(step, s, p));
          }
        }
        optimizer.step(weights, gradients, OPTIMISATION);
      }
      means.keep(ranks.rank(), optimizer);
      return weights.asSlice(0, (long) PARAMETERS * Float.BYTES).toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  @ParameterizedTest
  @CsvSource({"MEMORY,1", "MEMORY,2", "MEMORY,4", "SOCKETS,2", "SOCKETS,4", "TLS,2", "TLS,4"})
  void step_batchDividedAmongRanks_isTheStepOfTheWholeBatch(Way way, int size) throws Exception {
    float[] whole = train(Collective.alone(), 0, 5, Means.zero(), new float[PARAMETERS]);
    Means means = Means.zero();
    List<float[]> ranks = run(way, size, each -> train(each, 0, 5, means, new float[PARAMETERS]));
    for (float[] weights : ranks) {
      assertThat(weights).isEqualTo(ranks.getFirst());
      for (int p = 0; p < PARAMETERS; p++) {
        assertThat(weights[p]).isCloseTo(whole[p], within(1e-5f));
      }
    }
  }

  /** A rank leaves; the others abandon the step, and a new group continues from the checkpoint. */
  @ParameterizedTest
  @EnumSource(Way.class)
  void step_rankLost_isAbandonedAndANewGroupGoesOnFromTheCheckpoint(Way way) throws Exception {
    float[] zero = new float[PARAMETERS];
    Means untouched = Means.zero();
    List<float[]> unbroken = run(way, 2, each -> train(each, 0, 6, untouched, zero));
    Means kept = Means.zero();
    List<float[]> saved = run(way, 2, each -> train(each, 0, 3, kept, zero));
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<float[]>> broken =
          start(
              way,
              2,
              PATIENT,
              threads,
              each -> each.rank() == 1 ? zero : train(each, 0, 9, Means.zero(), saved.getFirst()));
      assertThat(broken.get(1).get(120, TimeUnit.SECONDS)).isEqualTo(zero);
      assertThatThrownBy(() -> broken.getFirst().get(120, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOfSatisfying(
              RankLostException.class, lost -> assertThat(lost.rank()).isEqualTo(1));
    }
    List<float[]> resumed = run(way, 2, each -> train(each, 3, 6, kept, saved.getFirst()));
    assertThat(resumed.getFirst()).isEqualTo(unbroken.getFirst());
    assertThat(resumed.get(1)).isEqualTo(unbroken.getFirst());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void barrier_silentRank_isNamedAtTheDeadline(Way way) throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<Boolean>> ranks =
          start(
              way,
              2,
              Duration.ofMillis(700),
              threads,
              each -> {
                if (each.rank() == 1) {
                  end.await();
                } else {
                  each.barrier();
                }
                return true;
              });
      try {
        assertThatThrownBy(() -> ranks.getFirst().get(120, TimeUnit.SECONDS))
            .cause()
            .isInstanceOfSatisfying(
                RankLostException.class, lost -> assertThat(lost.rank()).isEqualTo(1));
      } finally {
        end.countDown();
      }
    }
  }

  /** A rank waits for one that does not come, and another thread ends the wait. */
  @ParameterizedTest
  @EnumSource(Way.class)
  void abort_whileTheRankWaits_endsTheWaitAtOnce(Way way) throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch joined = new CountDownLatch(1);
    List<Collective> waiting = new CopyOnWriteArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<Boolean>> ranks =
          start(
              way,
              2,
              PATIENT,
              threads,
              each -> {
                if (each.rank() == 1) {
                  end.await();
                } else {
                  waiting.add(each);
                  joined.countDown();
                  each.barrier();
                }
                return true;
              });
      try {
        joined.await();
        long aborted = System.nanoTime();
        waiting.getFirst().abort();
        assertThatThrownBy(() -> ranks.getFirst().get(120, TimeUnit.SECONDS))
            .cause()
            .isInstanceOfSatisfying(
                RankLostException.class, lost -> assertThat(lost.rank()).isZero())
            .hasMessage("trainer rank 0 is lost: it aborted its group");
        assertThat(Duration.ofNanos(System.nanoTime() - aborted)).isLessThan(Duration.ofSeconds(5));
      } finally {
        end.countDown();
      }
    }
  }

  private static ConnectionFactory.Listener door(ConnectionFactory endpoint, int rank)
      throws IOException {
    return endpoint.listen(new InetSocketAddress(host(rank), 0));
  }

  /** Stays open until somebody was let in to be looked at: nobody finds it closed for good. */
  private record Held(ConnectionFactory.Listener door, CountDownLatch called)
      implements ConnectionFactory.Listener {
    Held(ConnectionFactory.Listener door) {
      this(door, new CountDownLatch(1));
    }

    @Override
    public InetSocketAddress address() {
      return door.address();
    }

    @Override
    public Connection accept() throws IOException {
      Connection caller = door.accept();
      called.countDown();
      return caller;
    }

    @Override
    public void close() throws IOException {
      try {
        called.await(PATIENT.toSeconds(), TimeUnit.SECONDS);
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
      door.close();
    }
  }

  /** An acceptor reports refusals in a thread of its own. */
  private void awaitRefusals(int count) {
    Await.until(count + " refusals", () -> refused.size() >= count);
    assertThat(refused).hasSize(count);
  }

  /** A rank of a ring of two. */
  private record Member(ConnectionFactory endpoint, RunSecret secret) {
    static final Member PLAIN = new Member(ConnectionFactory.onLoopback(), SECRET);
  }

  /** Joins a ring of two, whose ranks then meet at a barrier. */
  private List<Future<Boolean>> ring(
      ExecutorService threads, List<ConnectionFactory.Listener> doors, List<Member> members) {
    return ring(threads, doors, members, PATIENT);
  }

  private List<Future<Boolean>> ring(
      ExecutorService threads,
      List<ConnectionFactory.Listener> doors,
      List<Member> members,
      Duration deadline) {
    List<InetSocketAddress> addresses =
        doors.stream().map(ConnectionFactory.Listener::address).toList();
    return IntStream.range(0, 2)
        .mapToObj(
            rank ->
                threads.submit(
                    () -> {
                      try (Collective ranks =
                          SocketRing.join(
                              rank,
                              members.get(rank).endpoint,
                              doors.get(rank),
                              addresses,
                              members.get(rank).secret,
                              refused::add,
                              deadline)) {
                        ranks.barrier();
                        return true;
                      }
                    }))
        .toList();
  }

  /** Joins, which neither of the two can; each names the other. */
  private void assertRefused(Member first, Member second, String reason) throws Exception {
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<Boolean>> ranks =
          ring(
              threads,
              List.of(new Held(door(first.endpoint, 0)), new Held(door(second.endpoint, 1))),
              List.of(first, second));
      for (int rank = 0; rank < 2; rank++) {
        int other = 1 - rank;
        Future<Boolean> joining = ranks.get(rank);
        assertThatThrownBy(() -> joining.get(120, TimeUnit.SECONDS))
            .cause()
            .isInstanceOfSatisfying(
                RankLostException.class, lost -> assertThat(lost.rank()).isEqualTo(other))
            .hasMessageContaining("no proof of the run's secret: ")
            .hasMessageContaining(reason);
      }
    }
  }

  /** One says nothing, and one says something else than ranks do. */
  @ParameterizedTest
  @EnumSource(value = Way.class, names = "MEMORY", mode = EnumSource.Mode.EXCLUDE)
  void join_strangersConnectedFirst_areRefusedAndTheRingStands(Way way) throws Exception {
    ConnectionFactory endpoint = way == Way.TLS ? encrypted : ConnectionFactory.onLoopback();
    List<ConnectionFactory.Listener> doors = List.of(door(endpoint, 0), door(endpoint, 1));
    try (ExecutorService threads = Executors.newCachedThreadPool();
        SocketChannel silent = SocketChannel.open(doors.getFirst().address());
        SocketChannel rude = SocketChannel.open(doors.getFirst().address())) {
      rude.write(ByteBuffer.allocate(15));
      Member member = new Member(endpoint, SECRET);
      List<Future<Boolean>> ranks = ring(threads, doors, List.of(member, member));
      assertThat(ranks.getFirst().get(120, TimeUnit.SECONDS)).isTrue();
      assertThat(ranks.getLast().get(120, TimeUnit.SECONDS)).isTrue();
      ByteBuffer hello = ByteBuffer.allocate(1024);
      while (rude.read(hello) >= 0) {
        assertThat(hello.hasRemaining()).isTrue();
      }
      Await.until("the rude one is refused", () -> !refused.isEmpty());
      assertThat(refused)
          .as("the rude one, and the silent one on a slow machine")
          .isNotEmpty()
          .allMatch(
              told ->
                  told.startsWith(
                      "somebody else than trainer rank 1 connected, and was refused: "));
      assertThat(silent.isConnected()).isTrue();
    }
  }

  /** More than a door greets at once, and the ring must stand before the first is given up. */
  @ParameterizedTest
  @EnumSource(value = Way.class, names = "MEMORY", mode = EnumSource.Mode.EXCLUDE)
  void join_manySilentStrangersConnectedFirst_delayNoRank(Way way) throws Exception {
    ConnectionFactory endpoint = way == Way.TLS ? encrypted : ConnectionFactory.onLoopback();
    List<ConnectionFactory.Listener> doors = List.of(door(endpoint, 0), door(endpoint, 1));
    List<SocketChannel> silent = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (int i = 0; i < RingAcceptor.MAX_CALLERS + 8; i++) {
        silent.add(SocketChannel.open(doors.getFirst().address()));
      }
      Member member = new Member(endpoint, SECRET);
      Duration shorter = RingAcceptor.HELLO.minusSeconds(2);
      for (Future<Boolean> rank : ring(threads, doors, List.of(member, member), shorter)) {
        assertThat(rank.get(120, TimeUnit.SECONDS)).isTrue();
      }
    } finally {
      for (SocketChannel stranger : silent) {
        stranger.close();
      }
    }
  }

  @Test
  void join_rankWithAnotherSecret_isRefusedByName() throws Exception {
    assertRefused(Member.PLAIN, new Member(ConnectionFactory.onLoopback(), RunSecret.random()), "");
    awaitRefusals(2);
    assertThat(refused)
        .anyMatch(reason -> reason.endsWith("the other side does not know this run's secret"));
  }

  @Test
  void join_rankWithKeysOfAnotherAuthority_isRefusedOnBothSides() throws Exception {
    assertRefused(
        new Member(encrypted, SECRET),
        new Member(endpoint("theirs"), SECRET),
        "keys of one `troupe certs` authority");
    awaitRefusals(2);
    assertThat(refused).allMatch(reason -> reason.contains("keys of one `troupe certs` authority"));
  }

  @Test
  void welcome_silentCaller_isGivenUpAtTheDeadline() throws Exception {
    try (ConnectionFactory.Listener door = door(ConnectionFactory.onLoopback(), 0);
        SocketChannel caller = SocketChannel.open(door.address());
        Connection accepted = door.accept()) {
      assertThatThrownBy(
              () -> new PeerHandshake(SECRET, "test").asServer(accepted, Duration.ofMillis(50)))
          .hasMessageContaining("the other side proved nothing within PT0.05S");
      assertThat(caller.isConnected()).isTrue();
      assertThatThrownBy(() -> accepted.write(ByteBuffer.allocate(1)))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void listen_addressBeyondLoopback_isRefusedWithoutTlsAndPermission() throws Exception {
    InetSocketAddress wide = new InetSocketAddress("0.0.0.0", 0);
    assertThatThrownBy(() -> ConnectionFactory.onLoopback().listen(wide))
        .hasMessageContaining("plain TCP would let anybody listen; set cluster.tls");
    try (ConnectionFactory.Listener allowed = new ConnectionFactory.Plain(true).listen(wide);
        ConnectionFactory.Listener secret = encrypted.listen(wide)) {
      assertThat(allowed.address().getPort()).isNotEqualTo(secret.address().getPort());
    }
  }

  @Test
  void join_ringThatGoesBeyondLoopback_isRefusedWithoutTls() throws Exception {
    List<InetSocketAddress> far =
        List.of(new InetSocketAddress(host(0), 1), new InetSocketAddress("192.0.2.1", 1));
    assertThatThrownBy(
            () ->
                SocketRing.join(
                    0,
                    ConnectionFactory.onLoopback(),
                    door(ConnectionFactory.onLoopback(), 0),
                    far,
                    SECRET,
                    refused::add,
                    PATIENT))
        .hasMessageContaining("trainer rank 1: ")
        .hasMessageContaining("set cluster.tls");
  }
}
