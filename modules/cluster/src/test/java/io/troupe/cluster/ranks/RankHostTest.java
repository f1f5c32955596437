package io.troupe.cluster.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.net.HostPort;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.link.Introduction;
import io.troupe.cluster.link.Wire;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankStep;
import io.troupe.engine.parallel.TrainerRank;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A rank's process as a head sees it that the test plays. Joining is given longer than a test: what
 * waits for its limit fails.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class RankHostTest {
  private static final RunSecret SECRET = RunSecret.random();

  @TempDir private Path folder;

  private final CountDownLatch gradient = new CountDownLatch(1);

  /** Its gradient takes as long as the test wants; then it exchanges once. */
  private final class SlowRank implements TrainerRank {
    private Optional<Collective> group = Optional.empty();

    @Override
    public void begin(Path state, Collective joined) {
      group = Optional.of(joined);
    }

    @Override
    public RankStep step(RankShare share, Optimisation optimisation) throws RankLostException {
      try {
        gradient.await();
      } catch (InterruptedException stopped) {
        throw new IllegalStateException(stopped);
      }
      group.orElseThrow().barrier();
      return new RankStep.Refused("exchanged");
    }

    @Override
    public void close() {}
  }

  private interface Head {
    void orders(RankLine line) throws Exception;
  }

  private interface RawHead {
    void orders(RankLine line, Wire wire) throws Exception;
  }

  private void play(Path scratch, Head head) throws Exception {
    playRaw(scratch, (line, _) -> head.orders(line));
  }

  private void playRaw(Path scratch, RawHead head) throws Exception {
    try (Endpoint.Listener listener =
        Endpoint.onLoopback().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      RankHost.Self self =
          new RankHost.Self(
              0,
              "node",
              "t0",
              Endpoint.onLoopback(),
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
                    try (RankHost host =
                        RankHost.report(at, self, new SlowRank(), Duration.ofMillis(5))) {
                      host.work();
                    } catch (IOException over) {
                      // The head hung up.
                    }
                  });
      try (Wire wire = listener.accept()) {
        new Introduction(SECRET, RankReception.PURPOSE).welcome(wire, RankReception.HELLO);
        RankLine line = new RankLine(wire);
        assertThat(line.hear()).isInstanceOf(RankTalk.Report.class);
        head.orders(line, wire);
      } finally {
        gradient.countDown();
        rank.join();
      }
    }
  }

  private static RankTalk answer(RankLine line) throws IOException {
    while (true) {
      RankTalk heard = line.hear();
      if (!(heard instanceof RankTalk.Alive)) {
        return heard;
      }
    }
  }

  private static void begin(RankLine line) throws IOException {
    line.say(new RankTalk.Listen());
    String own = ((RankTalk.Listening) answer(line)).address();
    line.say(new RankTalk.Begin(0, List.of(own), "anywhere"));
    assertThat(answer(line)).isEqualTo(new RankTalk.Ready());
    line.say(new RankTalk.Go());
    assertThat(answer(line)).isEqualTo(new RankTalk.Begun());
  }

  private static RankTalk.Step order() {
    return new RankTalk.Step(
        new RankShare.Examples(List.of()), new Optimisation(1e-2, .9, .95, 1e-8, .1, .5));
  }

  /** The other one is connected to and connects to nobody. */
  @Test
  void begin_anotherIsLost_leavesTheRingWhenToldAndTakesTheNextOrder() throws Exception {
    try (Endpoint.Listener other =
        Endpoint.onLoopback().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      String gone = new HostPort("127.0.0.1", other.address().getPort()).toString();
      play(
          folder.resolve("state"),
          line -> {
            line.say(new RankTalk.Listen());
            String own = ((RankTalk.Listening) answer(line)).address();
            line.say(new RankTalk.Begin(0, List.of(own, gone), "anywhere"));
            try (Wire caller = other.accept()) {
              new Introduction(SECRET, "ring of 2, rank 0 to 1")
                  .welcome(caller, Duration.ofSeconds(60));
              line.say(new RankTalk.Abandon(1, "killed"));
              assertThat(answer(line)).isEqualTo(new RankTalk.Lost(1, "killed"));
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
            line.say(new RankTalk.Listen());
            String own = ((RankTalk.Listening) answer(line)).address();
            line.say(new RankTalk.Begin(0, List.of(own, gone, own), "anywhere"));
            HostPort door = HostPort.parse(own);
            try (Wire guest =
                Endpoint.onLoopback()
                    .connect(
                        new InetSocketAddress(door.host(), door.port()), Duration.ofSeconds(60))) {
              new Introduction(SECRET, "ring of 3, rank 2 to 0")
                  .greet(guest, Duration.ofSeconds(60));
              line.say(new RankTalk.Abandon(1, "killed"));
              assertThat(answer(line)).isEqualTo(new RankTalk.Lost(1, "killed"));
            }
            begin(line);
          });
    }
  }

  /** Its host was cut off when the connection stood, before it has proven anything. */
  @Test
  void begin_theNextSaysNothing_leavesTheRingWhenTold() throws Exception {
    try (Endpoint.Listener other =
        Endpoint.onLoopback().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      String silent = new HostPort("127.0.0.1", other.address().getPort()).toString();
      play(
          folder.resolve("state"),
          line -> {
            line.say(new RankTalk.Listen());
            String own = ((RankTalk.Listening) answer(line)).address();
            line.say(new RankTalk.Begin(0, List.of(own, silent), "anywhere"));
            try (Wire _ = other.accept()) {
              line.say(new RankTalk.Abandon(1, "cut off"));
              assertThat(answer(line)).isEqualTo(new RankTalk.Lost(1, "cut off"));
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
          line.say(new RankTalk.Listen());
          String own = ((RankTalk.Listening) answer(line)).address();
          line.say(new RankTalk.Begin(0, List.of(own), "anywhere"));
          assertThat(answer(line)).isEqualTo(new RankTalk.Ready());
          wire.write(ByteBuffer.allocate(Long.BYTES).putLong(Long.MAX_VALUE).flip());
          assertThat(((RankTalk.Failed) answer(line)).reason())
              .contains("the head's verdict cannot be read: ");
        });
  }

  @Test
  void begin_addressThatIsNone_isAFailureOnceTheVerdictIsHeard() throws Exception {
    play(
        folder.resolve("state"),
        line -> {
          line.say(new RankTalk.Listen());
          String own = ((RankTalk.Listening) answer(line)).address();
          line.say(new RankTalk.Begin(0, List.of(own, "nowhere"), "anywhere"));
          assertThat(answer(line))
              .isInstanceOfSatisfying(
                  RankTalk.Missed.class, missed -> assertThat(missed.place()).isZero());
          line.say(new RankTalk.Abandon(0, "known"));
          assertThat(answer(line)).isInstanceOf(RankTalk.Failed.class);
          begin(line);
        });
  }

  @Test
  void begin_neighbourWithAnotherSecret_tellsTheHeadAndAnswersItsVerdict() throws Exception {
    try (Endpoint.Listener other =
        Endpoint.onLoopback().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      String stranger = new HostPort("127.0.0.1", other.address().getPort()).toString();
      play(
          folder.resolve("state"),
          line -> {
            line.say(new RankTalk.Listen());
            String own = ((RankTalk.Listening) answer(line)).address();
            line.say(new RankTalk.Begin(0, List.of(own, stranger), "anywhere"));
            other.accept().close();
            assertThat(answer(line))
                .isInstanceOfSatisfying(
                    RankTalk.Missed.class, missed -> assertThat(missed.place()).isEqualTo(1));
            line.say(new RankTalk.Abandon(1, "known"));
            assertThat(answer(line)).isEqualTo(new RankTalk.Lost(1, "known"));
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
          line.say(order());
          for (int beat = 0; beat < 3; beat++) {
            assertThat(line.hear()).isEqualTo(new RankTalk.Alive());
          }
          gradient.countDown();
          assertThat(answer(line)).isEqualTo(new RankTalk.Ready());
          line.say(new RankTalk.Go());
          assertThat(answer(line)).isEqualTo(new RankTalk.Refused("exchanged"));
        });
  }

  @Test
  void step_abandonedAtTheGate_answersWhoIsLostAndTakesTheNextOrder() throws Exception {
    gradient.countDown();
    play(
        folder.resolve("state"),
        line -> {
          begin(line);
          line.say(order());
          assertThat(answer(line)).isEqualTo(new RankTalk.Ready());
          line.say(new RankTalk.Abandon(3, "killed"));
          assertThat(answer(line)).isEqualTo(new RankTalk.Lost(3, "killed"));
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
          line.say(new RankTalk.Take(List.of("a", "b")));
          SavedState.send(line, state, List.of("a", "b"));
          assertThat(((RankTalk.Failed) answer(line)).reason())
              .contains("the trainer's state cannot be written into");
          line.say(new RankTalk.Listen());
          assertThat(answer(line)).isInstanceOf(RankTalk.Listening.class);
        });
  }

  @Test
  void report_stateLeftByAKilledProcess_isDeleted() throws Exception {
    Path scratch = Files.createDirectories(folder.resolve("state"));
    Files.writeString(scratch.resolve("left"), "behind");
    play(scratch, line -> assertThat(scratch).doesNotExist());
  }
}
