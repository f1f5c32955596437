package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.accelerator.host.SocketRing;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StatePiece;
import io.troupe.engine.parallel.StateSink;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.ranks.protocol.CopyPlan;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Copies in rings of threads: what a new group takes is what the former one had. */
final class RankCopiesTest {
  private static final int ELEMENTS = 12; // 2, 3 and 4 ranks have equal pieces
  private static final long MARK = 5;

  /** A rank whose state is numbers that name their place. */
  private static final class CountingRank implements TrainerRank {
    private final int place;
    private final int elements;
    private final StatePiece piece;
    private long steps;

    CountingRank(int place, int ranks, float base) {
      this.place = place;
      this.elements = ELEMENTS / ranks;
      this.piece =
          StatePiece.in(
              MemorySegment.ofArray(new float[elements * StatePiece.ARRAYS]),
              (long) place * elements);
      for (int i = 0; i < elements; i++) {
        float at = base + place * elements + i;
        piece.weights().setAtIndex(ValueLayout.JAVA_FLOAT, i, at);
        piece.first().setAtIndex(ValueLayout.JAVA_FLOAT, i, 1_000 + at);
        piece.second().setAtIndex(ValueLayout.JAVA_FLOAT, i, 2_000 + at);
      }
    }

    List<Float> numbers() {
      List<Float> numbers = new ArrayList<>();
      for (MemorySegment array : List.of(piece.weights(), piece.first(), piece.second())) {
        for (float number : array.toArray(ValueLayout.JAVA_FLOAT)) {
          numbers.add(number);
        }
      }
      return numbers;
    }

    @Override
    public long pieceElements() {
      return elements;
    }

    @Override
    public void copyTo(StatePiece copy) {
      copy.take(piece);
    }

    @Override
    public void take(StatePiece part) {
      piece.take(part);
    }

    @Override
    public void continueAfter(long ahead) {
      steps += ahead;
    }

    @Override
    public void begin(Path state, Collective group) {}

    @Override
    public RankStepOutcome step(RankBatch share, OptimizerSettings optimisation) {
      throw new UnsupportedOperationException("rank %d makes no step".formatted(place));
    }

    @Override
    public void write(List<StatePart> parts, StateSink to) {}

    @Override
    public void freezeReference() {}

    @Override
    public void close() {}
  }

  private interface InRing {
    void work(int place, SocketRing ring) throws Exception;
  }

  private static void inRing(int ranks, InRing work) throws Exception {
    RunSecret secret = RunSecret.random();
    List<ConnectionFactory.Listener> listeners = new ArrayList<>();
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      listeners.add(
          ConnectionFactory.onLoopback()
              .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
      addresses.add(
          new InetSocketAddress(
              InetAddress.getLoopbackAddress(), listeners.getLast().address().getPort()));
    }
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<?>> running = new ArrayList<>();
      for (int rank = 0; rank < ranks; rank++) {
        int place = rank;
        running.add(
            threads.submit(
                () -> {
                  try (SocketRing ring =
                      SocketRing.join(
                          place,
                          ConnectionFactory.onLoopback(),
                          listeners.get(place),
                          addresses,
                          secret,
                          _ -> {},
                          Duration.ofSeconds(60))) {
                    work.work(place, ring);
                  }
                  return place;
                }));
      }
      for (Future<?> one : running) {
        one.get();
      }
    }
  }

  /** The rank at a place is lost after a step that it alone did not complete. */
  @ParameterizedTest
  @CsvSource({"2,2,1", "3,3,0", "3,2,1", "3,4,2", "4,3,3"})
  void take_aRankLost_theNewGroupHasTheStateOfTheLastCommonStep(int before, int after, int lost)
      throws Exception {
    List<RankCopies> copies = new ArrayList<>();
    for (int rank = 0; rank < Math.max(before, after); rank++) {
      copies.add(new RankCopies(true));
    }
    inRing(
        before,
        (place, ring) -> {
          copies.get(place).keep(MARK, new CountingRank(place, before, 100), ring);
          copies.get(place).keep(MARK + 1, new CountingRank(place, before, 200), ring);
        });
    copies.remove(lost).close();
    while (copies.size() < after) {
      copies.add(new RankCopies(true));
    }
    List<RankCopies> group = copies.subList(0, after);
    CopyPlan plan =
        ((CopyPlan.Found)
                CopyPlan.of(MARK, MARK + 2, 6, group.stream().map(RankCopies::held).toList()))
            .plan();
    inRing(
        after,
        (place, ring) -> {
          CountingRank fresh = new CountingRank(place, after, 900);
          group.get(place).take(plan, fresh, ring, Optional.of(ring));
          assertThat(fresh.numbers()).isEqualTo(new CountingRank(place, after, 100).numbers());
          assertThat(fresh.steps).isEqualTo(6);
          assertThat(group.get(place).held())
              .contains(new CopyPlan.Held(MARK + 2, place, after, ELEMENTS / after));
        });
    copies.forEach(RankCopies::close);
  }
}
