package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.net.HostPort;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PeerHandshake;
import io.troupe.net.secret.RunSecret;
import io.troupe.net.tls.CertificateAuthority;
import io.troupe.ranks.protocol.RankConnection;
import io.troupe.ranks.protocol.RankListener;
import io.troupe.ranks.protocol.RankProtocol;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks as nodes start them, over TLS, each in a thread, against the trainer of one thread. */
final class RemoteRanksTest {
  private static final RunSecret SECRET = RunSecret.random();
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int STEPS = 5;

  @TempDir private static Path keys;
  @TempDir private Path scratch;

  private final List<String> notes = new CopyOnWriteArrayList<>();
  private final List<Thread> started = new ArrayList<>();

  private static ConnectionFactory endpoint() throws IOException {
    return new ConnectionFactory.Tls(
        CertificateAuthority.init(keys.resolve("ours"), "troupe")
            .issue("hosts", List.of("127.0.0.1", "127.0.0.2", "127.0.0.3"), 90)
            .context());
  }

  /** A rank of a node, which works until it is interrupted. */
  private Thread rank(int number, ConnectionFactory endpoint, HostPort coordinator) {
    return rank(number, endpoint, coordinator, new ToyPolicy(ToySteps.POLICY).newRank(1));
  }

  private Thread rank(
      int number, ConnectionFactory endpoint, HostPort coordinator, TrainerRank rank) {
    RankAgent post =
        new RankAgent(
            new RankWorker.RankIdentity(
                number,
                "node" + number,
                "t" + number,
                endpoint,
                "127.0.0." + (2 + number),
                SECRET,
                LONG,
                0,
                keys.resolve("state" + number)),
            rank,
            true);
    post.setCoordinator(coordinator);
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    post.work();
                  } catch (InterruptedException ended) {
                    Thread.currentThread().interrupt();
                  }
                });
    started.add(thread);
    return thread;
  }

  @AfterEach
  void end() throws InterruptedException {
    for (Thread thread : started) {
      thread.interrupt();
      thread.join();
    }
  }

  /** Two ranks, then one, then two again. */
  @Test
  void train_aNodeLostAndBack_goesOnWithTheOthersAndIsTheTrainerOfOneThread() throws Exception {
    ConnectionFactory endpoint = endpoint();
    RemoteRanks.Patience patience = new RemoteRanks.Patience(Duration.ofMillis(300), LONG, LONG);
    try (RankRegistry registry =
            RankRegistry.open(2, endpoint, new HostPort("127.0.0.1", 0), SECRET);
        TrainingEngine trainer =
            new ToyPolicy(ToySteps.POLICY)
                .by(() -> new RemoteRanks(registry, patience, scratch, notes::add))
                .newTrainer(3)) {
      trainer.freezeReference();
      rank(0, endpoint, registry.address());
      registry.joined("node0");
      registry.joined("node1");
      Thread lost = rank(1, endpoint, registry.address());
      assertThat(registry.await(LONG)).hasSize(2);
      ToySteps.make(trainer, 0);
      ToySteps.make(trainer, 1);

      lost.interrupt();
      registry.left("node1");
      lost.join();
      registry.joined("node1");
      ToySteps.make(trainer, 2);
      assertThat(notes).anyMatch(note -> note.startsWith("1 of 2 trainer ranks begin"));

      rank(1, endpoint, registry.address());
      assertThat(registry.await(LONG)).hasSize(2);
      ToySteps.make(trainer, 3);
      ToySteps.make(trainer, 4);

      ToySteps.assertAlone(trainer, STEPS);
    }
    assertThat(notes)
        .filteredOn(note -> note.contains("trainer ranks begin"))
        .extracting(note -> note.substring(0, note.indexOf(':')))
        .containsExactly(
            "all trainer ranks begin",
            "1 of 2 trainer ranks begin, and the others when they come",
            "all trainer ranks begin");
    assertThat(notes)
        .anyMatch(
            note ->
                note.startsWith("the step is abandoned and made again: trainer rank 1 is lost: ")
                    && note.contains("t1 on node node1 is gone"));
  }

  @Test
  void train_nobodyComes_isGivenUpAndSaysWhatToDo() throws Exception {
    Duration brief = Duration.ofMillis(50);
    try (RankRegistry registry =
            RankRegistry.open(
                2, ConnectionFactory.onLoopback(), new HostPort("127.0.0.1", 0), SECRET);
        TrainingEngine trainer =
            new ToyPolicy(ToySteps.POLICY)
                .by(
                    () ->
                        new RemoteRanks(
                            registry,
                            new RemoteRanks.Patience(brief, brief, brief),
                            scratch,
                            notes::add))
                .newTrainer(3)) {
      trainer.freezeReference();
      assertThatThrownBy(() -> ToySteps.make(trainer, 0))
          .hasMessageContaining("no trainer rank came within")
          .hasMessageContaining("then resume the run");
      assertThat(notes).anyMatch(note -> note.startsWith("waits for trainer rank 0, 1: "));
    }
  }

  /** As a second signal does, or the end of the actor system. */
  @Test
  @SuppressWarnings("try") // The early close is what is tested.
  void train_registryClosedWhileItWaits_failsAtOnce() throws Exception {
    RemoteRanks.Patience patience = new RemoteRanks.Patience(LONG, Duration.ofDays(1), LONG);
    CountDownLatch waits = new CountDownLatch(1);
    CompletableFuture<String> failure = new CompletableFuture<>();
    try (RankRegistry registry =
            RankRegistry.open(
                2, ConnectionFactory.onLoopback(), new HostPort("127.0.0.1", 0), SECRET);
        TrainingEngine trainer =
            new ToyPolicy(ToySteps.POLICY)
                .by(() -> new RemoteRanks(registry, patience, scratch, _ -> waits.countDown()))
                .newTrainer(3)) {
      trainer.freezeReference();
      var _ =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    try {
                      ToySteps.make(trainer, 0);
                      failure.complete("none");
                    } catch (RuntimeException stopped) {
                      failure.complete(stopped.getMessage());
                    }
                  });
      waits.await();
      registry.close();
      assertThat(failure.get(LONG.toSeconds(), TimeUnit.SECONDS))
          .contains("the trainer's ranks cannot begin: this process is the coordinator no more");
    }
  }

  /** A rank that cannot make a step; its agent starts it again and again. */
  @Test
  void train_aRankThatAlwaysFails_isLeftOutAndTheOtherGoesOn() throws Exception {
    RemoteRanks.Patience patience = new RemoteRanks.Patience(LONG, LONG, LONG);
    List<String> ended = new CopyOnWriteArrayList<>();
    TrainerRank broken = new IdleRank();
    try (RankRegistry registry =
            RankRegistry.open(
                2, ConnectionFactory.onLoopback(), new HostPort("127.0.0.1", 0), SECRET);
        TrainingEngine trainer =
            new ToyPolicy(ToySteps.POLICY)
                .by(() -> new RemoteRanks(registry, patience, scratch, notes::add))
                .newTrainer(3)) {
      trainer.freezeReference();
      registry.stopProcessesWith((_, process, _) -> ended.add(process));
      registry.joined("node0");
      registry.joined("node1");
      rank(0, ConnectionFactory.onLoopback(), registry.address());
      rank(1, ConnectionFactory.onLoopback(), registry.address(), broken);
      assertThat(registry.await(LONG)).hasSize(2);
      ToySteps.make(trainer, 0);
      assertThat(ended).containsExactly("t1", "t1");
      assertThat(notes)
          .anyMatch(note -> note.startsWith("trainer rank 1 has failed twice, and is left out"));
      ToySteps.make(trainer, 1);
      assertThat(ended).hasSize(2);
    }
  }

  /** Of two processes with one number the later one has it, and the other one is told to end. */
  @Test
  void came_numberOfAnother_isTakenOnceAndTheOtherNeverComesBack() throws Exception {
    try (RankRegistry registry =
        RankRegistry.open(
            1, ConnectionFactory.onLoopback(), new HostPort("127.0.0.1", 0), SECRET)) {
      registry.joined("a");
      registry.joined("b");
      try (Connection first = reporting(registry, "a")) {
        assertThat(registry.await(LONG).getFirst().node()).isEqualTo("a");
        try (Connection second = reporting(registry, "b")) {
          assertThat(first.read(ByteBuffer.allocate(1))).isEqualTo(-1);
          try (Connection again = reporting(registry, "a")) {
            assertThat(new RankConnection(again).receive())
                .isInstanceOfSatisfying(
                    RankProtocol.Evicted.class,
                    dismissed ->
                        assertThat(dismissed.reason()).startsWith("another process has its"));
          }
          assertThat(registry.present().getFirst().node()).isEqualTo("b");
          assertThat(second).isNotNull();
        }
      }
    }
  }

  @Test
  void came_nodeThatTheCoordinatorDoesNotHave_isSentAwayUntilItHas() throws Exception {
    try (RankRegistry registry =
        RankRegistry.open(
            1, ConnectionFactory.onLoopback(), new HostPort("127.0.0.1", 0), SECRET)) {
      registry.joined("a");
      registry.left("a");
      try (Connection stranger = reporting(registry, "a")) {
        assertThat(stranger.read(ByteBuffer.allocate(1))).isEqualTo(-1);
      }
      assertThat(registry.present()).isEmpty();
      registry.joined("a");
      try (Connection known = reporting(registry, "a")) {
        assertThat(registry.await(LONG)).hasSize(1);
        registry.joined("a");
        registry.left("a");
        assertThat(registry.present()).as("the other agent of that name is there").hasSize(1);
        registry.left("a");
        assertThat(registry.present()).isEmpty();
        assertThat(known).isNotNull();
      }
    }
  }

  private static Connection reporting(RankRegistry registry, String node) throws IOException {
    Connection wire =
        ConnectionFactory.onLoopback()
            .connect(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), registry.address().port()),
                LONG);
    new PeerHandshake(SECRET, RankListener.PURPOSE).asClient(wire, RankListener.HELLO);
    new RankConnection(wire).send(new RankProtocol.Report(0, node, node + "-t0", 7));
    return wire;
  }

  @Test
  void open_addressBeyondLoopbackWithoutKeys_isRefused() {
    assertThatThrownBy(
            () ->
                RankRegistry.open(
                    1, ConnectionFactory.onLoopback(), new HostPort("0.0.0.0", 0), SECRET))
        .hasMessageContaining("set cluster.tls, or pass --allow-plain-tcp");
  }
}
