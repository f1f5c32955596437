package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.net.HostPort;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StateSink;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.SafetensorsFile.Declared;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PeerHandshake;
import io.troupe.net.secret.RunSecret;
import io.troupe.ranks.protocol.MarkedFolder;
import io.troupe.ranks.protocol.RankConnection;
import io.troupe.ranks.protocol.RankListener;
import io.troupe.ranks.protocol.RankProtocol;
import io.troupe.ranks.protocol.StateTransfer;
import io.troupe.ranks.protocol.VersionMarks;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A rank's process as a coordinator sees it that the test plays. Joining is given longer than a
 * test: what waits for its limit fails.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class RankWorkerTest {
  private static final RunSecret SECRET = RunSecret.random();
  private static final List<StatePart> PARTS = List.of(StatePart.WEIGHTS, StatePart.MOMENTS);

  @TempDir private Path folder;

  private final CountDownLatch gradient = new CountDownLatch(1);

  /** Its gradient takes as long as the test wants; then it exchanges once. */
  private final class SlowRank extends IdleRank {
    private Optional<Collective> group = Optional.empty();

    @Override
    public void begin(Path state, Collective joined) {
      group = Optional.of(joined);
    }

    @Override
    public RankStepOutcome step(RankBatch share, OptimizerSettings optimisation)
        throws RankLostException {
      try {
        gradient.await();
      } catch (InterruptedException stopped) {
        throw new IllegalStateException(stopped);
      }
      group.orElseThrow().barrier();
      return new RankStepOutcome.Refused("exchanged");
    }

    @Override
    public void write(List<StatePart> parts, StateSink to) throws IOException {
      for (StatePart part : parts) {
        to.write(part.name(), 4, RankFanOutTest.floats(part.name().length(), 7));
      }
    }
  }

  private interface PlayedCoordinator {
    void orders(RankConnection line) throws Exception;
  }

  private interface RawCoordinator {
    void orders(RankConnection line, Connection wire) throws Exception;
  }

  private void play(Path scratch, PlayedCoordinator coordinator) throws Exception {
    playRaw(scratch, (line, _) -> coordinator.orders(line));
  }

  private void playRaw(Path scratch, RawCoordinator coordinator) throws Exception {
    try (ConnectionFactory.Listener listener =
        ConnectionFactory.onLoopback()
            .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      RankWorker.RankIdentity self =
          new RankWorker.RankIdentity(
              0,
              "node",
              "t0",
              ConnectionFactory.onLoopback(),
              "127.0.0.1",
              SECRET,
              Duration.ofMinutes(10),
              0,
              scratch);
      HostPort at = new HostPort("127.0.0.1", listener.address().getPort());
      Thread rank =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try (RankWorker host =
                        RankWorker.report(at, self, new SlowRank(), true, Duration.ofMillis(5))) {
                      host.work();
                    } catch (IOException over) {
                      // The coordinator hung up.
                    }
                  });
      try (Connection wire = listener.accept()) {
        new PeerHandshake(SECRET, RankListener.PURPOSE).asServer(wire, RankListener.HELLO);
        RankConnection line = new RankConnection(wire);
        assertThat(line.receive()).isInstanceOf(RankProtocol.Report.class);
        coordinator.orders(line, wire);
      } finally {
        gradient.countDown();
        rank.join();
      }
    }
  }

  private static RankProtocol answer(RankConnection line) throws IOException {
    while (true) {
      RankProtocol heard = line.receive();
      if (!(heard instanceof RankProtocol.Heartbeat)) {
        return heard;
      }
    }
  }

  private static void begin(RankConnection line) throws IOException {
    line.send(new RankProtocol.Listen());
    String own = ((RankProtocol.Listening) answer(line)).address();
    line.send(new RankProtocol.JoinGroup(0, List.of(own), "anywhere"));
    assertThat(answer(line)).isEqualTo(new RankProtocol.Ready());
    line.send(new RankProtocol.Proceed());
    assertThat(answer(line)).isEqualTo(new RankProtocol.GroupJoined());
  }

  private static RankProtocol.Step order() {
    return new RankProtocol.Step(
        new RankBatch.Examples(List.of()), new OptimizerSettings(1e-2, .9, .95, 1e-8, .1, .5), 1);
  }

  /** The other one is connected to and connects to nobody. */
  @Test
  void begin_anotherIsLost_leavesTheRingWhenToldAndTakesTheNextOrder() throws Exception {
    try (ConnectionFactory.Listener other =
        ConnectionFactory.onLoopback()
            .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      String gone = new HostPort("127.0.0.1", other.address().getPort()).toString();
      play(
          folder.resolve("state"),
          line -> {
            line.send(new RankProtocol.Listen());
            String own = ((RankProtocol.Listening) answer(line)).address();
            line.send(new RankProtocol.JoinGroup(0, List.of(own, gone), "anywhere"));
            try (Connection caller = other.accept()) {
              new PeerHandshake(SECRET, "ring of 2, rank 0 to 1")
                  .asServer(caller, Duration.ofSeconds(60));
              line.send(new RankProtocol.Abort(1, "killed"));
              assertThat(answer(line)).isEqualTo(new RankProtocol.PeerLost(1, "killed"));
            }
            begin(line);
          });
    }
  }

  /** The one before has come; the port of the one after refuses. */
  @Test
  void begin_theNextIsLostAndThePreviousHasCome_leavesTheRingWhenTold() throws Exception {
    try (Socket closed = new Socket()) {
      closed.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)); // listens never
      String gone = new HostPort("127.0.0.1", closed.getLocalPort()).toString();
      play(
          folder.resolve("state"),
          line -> {
            line.send(new RankProtocol.Listen());
            String own = ((RankProtocol.Listening) answer(line)).address();
            line.send(new RankProtocol.JoinGroup(0, List.of(own, gone, own), "anywhere"));
            HostPort door = HostPort.parse(own);
            try (Connection guest =
                ConnectionFactory.onLoopback()
                    .connect(
                        new InetSocketAddress(door.host(), door.port()), Duration.ofSeconds(60))) {
              new PeerHandshake(SECRET, "ring of 3, rank 2 to 0")
                  .asClient(guest, Duration.ofSeconds(60));
              line.send(new RankProtocol.Abort(1, "killed"));
              assertThat(answer(line)).isEqualTo(new RankProtocol.PeerLost(1, "killed"));
            }
            begin(line);
          });
    }
  }

  /** Its host was cut off when the connection stood, before it has proven anything. */
  @Test
  void begin_theNextSaysNothing_leavesTheRingWhenTold() throws Exception {
    try (ConnectionFactory.Listener other =
        ConnectionFactory.onLoopback()
            .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      String silent = new HostPort("127.0.0.1", other.address().getPort()).toString();
      play(
          folder.resolve("state"),
          line -> {
            line.send(new RankProtocol.Listen());
            String own = ((RankProtocol.Listening) answer(line)).address();
            line.send(new RankProtocol.JoinGroup(0, List.of(own, silent), "anywhere"));
            try (Connection _ = other.accept()) {
              line.send(new RankProtocol.Abort(1, "cut off"));
              assertThat(answer(line)).isEqualTo(new RankProtocol.PeerLost(1, "cut off"));
            }
            begin(line);
          });
    }
  }

  @Test
  void begin_verdictThatCannotBeRead_isAFailureAndNoHang() throws Exception {
    playRaw(
        folder.resolve("state"),
        (line, wire) -> {
          line.send(new RankProtocol.Listen());
          String own = ((RankProtocol.Listening) answer(line)).address();
          line.send(new RankProtocol.JoinGroup(0, List.of(own), "anywhere"));
          assertThat(answer(line)).isEqualTo(new RankProtocol.Ready());
          wire.write(ByteBuffer.allocate(Long.BYTES).putLong(Long.MAX_VALUE).flip());
          assertThat(((RankProtocol.Failed) answer(line)).reason())
              .contains("the coordinator's verdict cannot be read: ");
        });
  }

  @Test
  void begin_addressThatIsNone_isAFailureOnceTheVerdictIsHeard() throws Exception {
    play(
        folder.resolve("state"),
        line -> {
          line.send(new RankProtocol.Listen());
          String own = ((RankProtocol.Listening) answer(line)).address();
          line.send(new RankProtocol.JoinGroup(0, List.of(own, "nowhere"), "anywhere"));
          assertThat(answer(line))
              .isInstanceOfSatisfying(
                  RankProtocol.PeerMissed.class, missed -> assertThat(missed.place()).isZero());
          line.send(new RankProtocol.Abort(0, "known"));
          assertThat(answer(line)).isInstanceOf(RankProtocol.Failed.class);
          begin(line);
        });
  }

  @Test
  void begin_neighbourWithAnotherSecret_tellsTheCoordinatorAndAnswersItsVerdict() throws Exception {
    try (ConnectionFactory.Listener other =
        ConnectionFactory.onLoopback()
            .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      String stranger = new HostPort("127.0.0.1", other.address().getPort()).toString();
      play(
          folder.resolve("state"),
          line -> {
            line.send(new RankProtocol.Listen());
            String own = ((RankProtocol.Listening) answer(line)).address();
            line.send(new RankProtocol.JoinGroup(0, List.of(own, stranger), "anywhere"));
            other.accept().close();
            assertThat(answer(line))
                .isInstanceOfSatisfying(
                    RankProtocol.PeerMissed.class,
                    missed -> assertThat(missed.place()).isEqualTo(1));
            line.send(new RankProtocol.Abort(1, "known"));
            assertThat(answer(line)).isEqualTo(new RankProtocol.PeerLost(1, "known"));
            begin(line);
          });
    }
  }

  @Test
  void step_longGradient_givesSignsOfLifeThenWaitsForTheVerdict() throws Exception {
    play(
        folder.resolve("state"),
        line -> {
          begin(line);
          line.send(order());
          for (int beat = 0; beat < 3; beat++) {
            assertThat(line.receive()).isEqualTo(new RankProtocol.Heartbeat());
          }
          gradient.countDown();
          assertThat(answer(line)).isEqualTo(new RankProtocol.Ready());
          line.send(new RankProtocol.Proceed());
          assertThat(answer(line)).isEqualTo(new RankProtocol.Refused("exchanged"));
        });
  }

  @Test
  void step_abandonedAtTheGate_answersWhoIsLostAndTakesTheNextOrder() throws Exception {
    gradient.countDown();
    play(
        folder.resolve("state"),
        line -> {
          begin(line);
          line.send(order());
          assertThat(answer(line)).isEqualTo(new RankProtocol.Ready());
          line.send(new RankProtocol.Abort(3, "killed"));
          assertThat(answer(line)).isEqualTo(new RankProtocol.PeerLost(3, "killed"));
          begin(line);
        });
  }

  @Test
  void take_folderThatCannotBeWritten_failsAndKeepsTheLine() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "not a folder");
    Path state = Files.createDirectories(folder.resolve("saved"));
    Files.writeString(state.resolve("a"), "some bytes");
    Files.writeString(state.resolve("b"), "and more");
    play(
        file.resolve("state"),
        line -> {
          line.send(new RankProtocol.ReceiveState(List.of("a", "b")));
          StateTransfer.send(line, state, List.of("a", "b"));
          assertThat(((RankProtocol.Failed) answer(line)).reason())
              .contains("the trainer's state cannot be written into");
          line.send(new RankProtocol.Listen());
          assertThat(answer(line)).isInstanceOf(RankProtocol.Listening.class);
        });
  }

  @Test
  void write_folderOfAnotherHost_sendsTheRanges() throws Exception {
    play(
        folder.resolve("state"),
        line -> {
          line.send(new RankProtocol.FindFolder(folder.toString(), "mark"));
          assertThat(answer(line)).isEqualTo(new RankProtocol.FolderFound(false));
          line.send(new RankProtocol.SendState(PARTS, new VersionMarks(1, 2)));
          for (StatePart part : PARTS) {
            assertThat(answer(line)).isEqualTo(new RankProtocol.StateRange(part.name(), 4));
            try (Arena arena = Arena.ofConfined()) {
              assertThat(line.receiveArray(arena).toArray(ValueLayout.JAVA_FLOAT))
                  .containsExactly(part.name().length(), 7);
            }
          }
          assertThat(answer(line)).isEqualTo(new RankProtocol.StateWritten());
        });
  }

  @Test
  void write_folderThatBothSee_writesIntoItsFiles() throws Exception {
    Path own = Files.createDirectory(folder.resolve("saved"));
    SafetensorsFile.create(
        own.resolve("x"), List.of(new Declared("WEIGHTS", DType.F32, List.of(3L))), Map.of());
    play(
        folder.resolve("state"),
        line -> {
          try (MarkedFolder marked = MarkedFolder.of(own)) {
            line.send(new RankProtocol.FindFolder(marked.name(), marked.mark()));
            assertThat(answer(line)).isEqualTo(new RankProtocol.FolderFound(true));
          }
          line.send(
              new RankProtocol.WriteState(
                  own.toString(), List.of("x"), List.of(StatePart.WEIGHTS), true));
          assertThat(answer(line)).isEqualTo(new RankProtocol.StateWritten());
          line.send(
              new RankProtocol.WriteState(
                  own.toString(), List.of("x"), List.of(StatePart.MOMENTS), true));
          assertThat(answer(line))
              .isInstanceOfSatisfying(
                  RankProtocol.Failed.class,
                  failed ->
                      assertThat(failed.reason())
                          .contains("its piece of the state cannot be written")
                          .contains("no file was made for the tensor MOMENTS"));
        });
    try (Arena arena = Arena.ofConfined()) {
      assertThat(
              Objects.requireNonNull(
                      SafetensorsFile.map(own.resolve("x"), arena).tensors().get("WEIGHTS"))
                  .data()
                  .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED))
          .containsExactly(0, StatePart.WEIGHTS.name().length(), 7);
    }
  }

  @Test
  void report_stateLeftByAKilledProcess_isDeleted() throws Exception {
    Path scratch = Files.createDirectories(folder.resolve("state"));
    Files.writeString(scratch.resolve("left"), "behind");
    play(scratch, line -> assertThat(scratch).doesNotExist());
  }
}
