package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.SafetensorsFile.Declared;
import io.troupe.engine.safetensors.TensorRangeWriter;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.net.link.Connection;
import io.troupe.ranks.protocol.MarkedFolder;
import io.troupe.ranks.protocol.RankClient;
import io.troupe.ranks.protocol.RankConnection;
import io.troupe.ranks.protocol.RankProtocol;
import io.troupe.ranks.protocol.StepBarrier;
import io.troupe.ranks.protocol.VersionMarks;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the coordinator makes of ranks that are played, over connections within this process. */
final class RankFanOutTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(100);
  private static final OptimizerSettings ADAM = new OptimizerSettings(1e-2, .9, .95, 1e-8, .1, .5);

  private static final VersionMarks MARKS = new VersionMarks(1, 2);

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<ConnectionPair> lines = new ArrayList<>();
  private final List<FakeSeat> seats = new ArrayList<>();
  private final List<Integer> faults = new CopyOnWriteArrayList<>();
  private final List<Integer> ended = new CopyOnWriteArrayList<>();

  /** What a rank does once it is connected; its end of the line closes after that. */
  private interface Part {
    void play(RankConnection line) throws Exception;
  }

  /** A place whose process is a part that a thread plays. */
  private record FakeSeat(
      int number, RankClient call, List<Integer> ended, CompletableFuture<String> played)
      implements RankSlot {
    @Override
    public void end() {
      ended.add(number);
      call.close();
    }

    @Override
    public void disconnect() {
      call.close();
    }

    @Override
    public String describeEnd(IOException seen) {
      return "fate: " + seen.getMessage();
    }
  }

  /** The next rank; their numbers are 10, 11, and so on, so that they are not their places. */
  private void rank(Duration silence, Part part) throws IOException {
    ConnectionPair pair = ConnectionPair.open();
    lines.add(pair);
    CompletableFuture<String> played = new CompletableFuture<>();
    threads.execute(
        () -> {
          try (Connection own = pair.rank()) {
            part.play(new RankConnection(own));
            played.complete("");
          } catch (Exception failure) {
            played.complete(failure.toString());
          }
        });
    seats.add(
        new FakeSeat(
            10 + seats.size(),
            new RankClient(new RankConnection(new Connection.Timed(pair.coordinator(), silence))),
            ended,
            played));
  }

  @AfterEach
  void end() throws IOException {
    for (ConnectionPair pair : lines) {
      pair.close();
    }
    threads.shutdownNow();
  }

  private RankFanOut round(Duration limit) {
    return new RankFanOut(seats, threads, limit, faults::add);
  }

  private List<RankStepOutcome> step(Duration limit) throws RankLostException {
    List<RankBatch> shares =
        seats.stream()
            .<RankBatch>map(_ -> new RankBatch.Examples(List.of()))
            .collect(Collectors.toList());
    return round(limit).step(shares, ADAM, 1);
  }

  private static void refuse(RankConnection line) throws IOException {
    line.send(new RankProtocol.Refused("none"));
  }

  /** The first is ready long before the second, and exchanges nothing until then. */
  @Test
  void step_oneHasItsGradientLater_theOtherWaitsAtTheGate() throws Exception {
    CountDownLatch firstIsReady = new CountDownLatch(1);
    List<String> order = new CopyOnWriteArrayList<>();
    rank(
        LONG,
        line -> {
          line.receive();
          line.send(new RankProtocol.Ready());
          firstIsReady.countDown();
          assertThat(line.receive()).isEqualTo(new RankProtocol.Proceed());
          order.add("first goes");
          refuse(line);
        });
    rank(
        LONG,
        line -> {
          line.receive();
          firstIsReady.await();
          for (int beat = 0; beat < 5; beat++) {
            line.send(new RankProtocol.Heartbeat());
          }
          order.add("second is ready");
          line.send(new RankProtocol.Ready());
          assertThat(line.receive()).isEqualTo(new RankProtocol.Proceed());
          refuse(line);
        });
    assertThat(step(LONG))
        .containsExactly(new RankStepOutcome.Refused("none"), new RankStepOutcome.Refused("none"));
    assertThat(order).containsExactly("second is ready", "first goes");
    assertThat(ended).isEmpty();
  }

  /** It dies between its order and the ring, where the other one waits for it. */
  @Test
  void begin_oneIsGone_theOtherIsToldBeforeItHasJoined() throws Exception {
    rank(
        LONG,
        line -> {
          assertThat(line.receive()).isInstanceOf(RankProtocol.JoinGroup.class);
          assertThat(line.receive()).isInstanceOf(RankProtocol.Abort.class);
          line.send(new RankProtocol.PeerLost(1, "told"));
          assertThat(line.receive()).isInstanceOf(RankProtocol.Listen.class);
          line.send(new RankProtocol.Listening("here:1"));
        });
    rank(LONG, RankConnection::receive);
    assertThatThrownBy(() -> round(LONG).begin(List.of("a:1", "b:1"), List.of("x", "y")))
        .hasMessageContaining("trainer rank 11 is lost: fate: ");
    seats.removeLast();
    assertThat(round(LONG).askAll((_, seat, _) -> seat.call().listen())).containsExactly("here:1");
    assertThat(seats.getFirst().played().join()).isEmpty();
    assertThat(ended).isEmpty();
  }

  @Test
  void begin_allHaveJoined_goOn() throws Exception {
    for (int rank = 0; rank < 2; rank++) {
      rank(
          LONG,
          line -> {
            line.receive();
            line.send(new RankProtocol.Ready());
            assertThat(line.receive()).isEqualTo(new RankProtocol.Proceed());
            line.send(new RankProtocol.GroupJoined());
          });
    }
    round(LONG).begin(List.of("a:1", "b:1"), List.of("x", "y"));
    assertThat(seats).allMatch(seat -> seat.played().join().isEmpty());
  }

  static MemorySegment floats(float... values) {
    byte[] bytes = new byte[values.length * Float.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(values);
    return MemorySegment.ofArray(bytes);
  }

  /** One sees the folder of the files, the other sends what it has. */
  @Test
  void write_oneOfAnotherHost_itsRangesAreWrittenHere(@TempDir Path folder) throws Exception {
    SafetensorsFile.create(
        folder.resolve("x"), List.of(new Declared("w", DType.F32, List.of(2L))), Map.of());
    rank(
        LONG,
        line -> {
          RankProtocol.FindFolder asked = (RankProtocol.FindFolder) line.receive();
          line.send(
              new RankProtocol.FolderFound(MarkedFolder.isHere(asked.folder(), asked.mark())));
          RankProtocol.WriteState order = (RankProtocol.WriteState) line.receive();
          assertThat(order.folder()).isEqualTo(folder.toString());
          try (TensorRangeWriter own = TensorRangeWriter.open(folder, order.names())) {
            own.write("w", 0, floats(3));
          }
          line.send(new RankProtocol.StateWritten());
        });
    rank(
        LONG,
        line -> {
          line.receive();
          line.send(new RankProtocol.FolderFound(false));
          assertThat(line.receive())
              .isEqualTo(new RankProtocol.SendState(List.of(StatePart.WEIGHTS), MARKS));
          line.send(new RankProtocol.StateRange("w", 4));
          line.send(floats(5));
          line.send(new RankProtocol.Heartbeat());
          line.send(new RankProtocol.StateWritten());
        });
    StateFiles made = new StateFiles(folder, List.of("x"), List.of(StatePart.WEIGHTS), true);
    assertThat(round(LONG).write(made, MARKS)).isZero();
    assertThat(seats).allMatch(seat -> seat.played().join().isEmpty());
    try (Arena arena = Arena.ofConfined()) {
      assertThat(
              Objects.requireNonNull(
                      SafetensorsFile.map(folder.resolve("x"), arena).tensors().get("w"))
                  .data()
                  .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED))
          .containsExactly(3, 5);
    }
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).hasSize(1);
    }
  }

  @Test
  void gate_oneThatTakesNothing_holdsUpNobody() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    CompletableFuture<RankProtocol.Verdict> told = new CompletableFuture<>();
    StepBarrier gate = new StepBarrier(2, threads);
    gate.at(0)
        .onVerdict(
            _ -> {
              try {
                over.await();
              } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
              }
            });
    gate.at(1).onVerdict(told::complete);
    gate.at(0).ready();
    assertThat(gate.isWaitingFor(0)).isTrue();
    gate.at(1).ready();
    assertThat(told.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(new RankProtocol.Proceed());
    assertThat(gate.isWaitingFor(0)).isFalse();
    over.countDown();
  }

  @Test
  void step_oneFails_isEndedAndTheHealthyIsToldAndKept() throws Exception {
    rank(
        LONG,
        line -> {
          line.receive();
          line.send(new RankProtocol.Ready());
          assertThat(line.receive()).isEqualTo(new RankProtocol.Abort(1, "no memory"));
          line.send(new RankProtocol.PeerLost(1, "no memory"));
          assertThat(line.receive()).isInstanceOf(RankProtocol.Listen.class);
          line.send(new RankProtocol.Listening("here:1"));
        });
    rank(
        LONG,
        line -> {
          line.receive();
          line.send(new RankProtocol.Failed("no memory"));
        });
    assertThatThrownBy(() -> step(LONG)).hasMessage("trainer rank 11 is lost: fate: no memory");
    assertThat(ended).containsExactly(11);
    assertThat(faults).containsExactly(11);
    seats.removeLast();
    assertThat(round(LONG).askAll((_, seat, _) -> seat.call().listen())).containsExactly("here:1");
    assertThat(seats.getFirst().played().join()).isEmpty();
  }

  /** A group of one, too: there is no other that could fail first. */
  @Test
  void all_silentRank_isEndedAfterTheSilence() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    rank(SHORT, _ -> over.await());
    assertThatThrownBy(() -> round(LONG).askAll((_, seat, _) -> seat.call().listen()))
        .hasMessageContaining("trainer rank 10 is lost: fate: it gave no sign of life");
    over.countDown();
    assertThat(ended).containsExactly(10);
    assertThat(faults).containsExactly(10);
  }

  /**
   * The limit counts when one waits for the others, and that one is told before it counts again: so
   * no slow machine makes it late.
   */
  @Test
  void all_rankThatLivesAndIsNeverDone_isEndedAfterTheLimitAndNotTheOneThatWaits()
      throws Exception {
    rank(LONG, RankConnection::receive);
    rank(
        LONG,
        line -> {
          line.receive();
          line.receive(); // nothing comes, until the coordinator hangs up
        });
    CountDownLatch waits = new CountDownLatch(1);
    CountDownLatch told = new CountDownLatch(1);
    AtomicInteger tasks = new AtomicInteger();
    Executor secondLater =
        task -> {
          if (tasks.incrementAndGet() == 2) {
            Await.latch(waits);
          }
          threads.execute(task);
        };
    IntConsumer atFault =
        number -> {
          faults.add(number);
          seats.get(number - 10).disconnect();
          Await.latch(told);
        };
    RankFanOut round = new RankFanOut(seats, secondLater, Duration.ofSeconds(1), atFault);
    assertThatThrownBy(
            () ->
                round.askAll(
                    (place, seat, ticket) -> {
                      if (place == 1) {
                        return seat.call().listen();
                      }
                      CountDownLatch verdict = new CountDownLatch(1);
                      ticket.onVerdict(_ -> verdict.countDown());
                      ticket.ready();
                      waits.countDown();
                      Await.latch(verdict);
                      told.countDown();
                      throw new RankLostException(1, "gone");
                    }))
        .hasMessage("trainer rank 11 is lost: it was not done after PT1S, and was ended");
    assertThat(ended).containsExactly(11);
    assertThat(faults).containsExactly(11);
  }

  @Test
  void step_answerThatNoMemoryHolds_isALossAndNotAHang() throws Exception {
    rank(
        LONG,
        line -> {
          line.receive();
          line.send(new RankProtocol.Ready());
          line.receive();
          throw new IOException("closes");
        });
    assertThatThrownBy(
            () ->
                round(LONG)
                    .askAll(
                        (_, _, _) -> {
                          throw new OutOfMemoryError("Cannot reserve direct memory");
                        }))
        .hasMessageContaining("trainer rank 10 is lost: the coordinator could not hear its answer:")
        .hasMessageContaining("Cannot reserve direct memory");
    assertThat(seats.getFirst().call().open()).isFalse();
    assertThat(ended).isEmpty();
  }

  @Test
  void step_processKilledWhileItWaitsForTheOther_isNoticedAndTheOtherIsTold() throws Exception {
    CountDownLatch noticed = new CountDownLatch(1);
    rank(
        LONG,
        line -> {
          line.receive();
          line.send(new RankProtocol.Ready());
        });
    rank(
        LONG,
        line -> {
          line.receive();
          noticed.await();
          line.send(new RankProtocol.Ready());
          assertThat(line.receive()).isInstanceOf(RankProtocol.Abort.class);
          line.send(new RankProtocol.PeerLost(0, "told"));
        });
    var _ = // of the system's own: one that spins must keep no carrier from those that notice
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  Await.until("the call is over", () -> !seats.getFirst().call().open());
                  noticed.countDown();
                });
    assertThatThrownBy(() -> step(LONG)).hasMessageContaining("trainer rank 10 is lost: fate: ");
    assertThat(ended).isEmpty();
  }
}
