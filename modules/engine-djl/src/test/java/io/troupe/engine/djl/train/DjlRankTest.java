package io.troupe.engine.djl.train;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.BarrierGroup;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StatePiece;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.TrainingEngine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A decoder's ranks in groups of threads. */
final class DjlRankTest {
  @TempDir private Path state;

  private static DjlPolicy policy(Precision precision) {
    return DjlPolicy.create(
        TINY, TOKENIZER, ComputeSettings.of(1, 1, 1 << 14).on(Device.host(), precision));
  }

  private interface Work<T> {
    T of(int rank) throws Exception;
  }

  private static <T> List<T> all(int ranks, Work<T> work) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(ranks)) {
      List<Future<T>> running =
          IntStream.range(0, ranks).mapToObj(rank -> threads.submit(() -> work.of(rank))).toList();
      List<T> results = new ArrayList<>();
      for (Future<T> one : running) {
        results.add(one.get());
      }
      return results;
    }
  }

  /** A group that has begun from the trainer's first state. */
  private List<TrainerRank> begun(DjlPolicy policy, int size) throws Exception {
    List<Collective> group = BarrierGroup.open(size);
    List<TrainerRank> ranks = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      ranks.add(policy.newRank(size));
    }
    all(
        size,
        rank -> {
          ranks.get(rank).begin(state, group.get(rank));
          return rank;
        });
    return ranks;
  }

  private static List<RankStepOutcome> step(List<TrainerRank> ranks, int seed) throws Exception {
    List<RankBatch> shares =
        new RankBatch.Examples(Fixtures.batch(new Random(seed), 6)).splitAcross(ranks.size());
    return all(ranks.size(), rank -> ranks.get(rank).step(shares.get(rank), Fixtures.ADAM));
  }

  private static double norm(List<RankStepOutcome> outcomes) {
    return ((RankStepOutcome.Updated) outcomes.getFirst()).norm();
  }

  /** All weights and moments that the ranks hold, by tensor, in bits. */
  private static Map<String, List<Integer>> state(List<TrainerRank> ranks) throws Exception {
    Map<String, int[]> found = new TreeMap<>();
    for (TrainerRank rank : ranks) {
      rank.write(
          List.of(StatePart.WEIGHTS, StatePart.MOMENTS),
          (tensor, from, bytes) -> {
            int[] part = bytes.toArray(ValueLayout.JAVA_INT_UNALIGNED);
            int start = (int) (from / Float.BYTES);
            int[] all = found.getOrDefault(tensor, new int[0]);
            all = Arrays.copyOf(all, Math.max(all.length, start + part.length));
            System.arraycopy(part, 0, all, start, part.length);
            found.put(tensor, all);
          });
    }
    Map<String, List<Integer>> bits = new TreeMap<>();
    found.forEach((name, all) -> bits.put(name, Arrays.stream(all).boxed().toList()));
    return bits;
  }

  private void saveFirstState(DjlPolicy policy) throws Exception {
    try (TrainingEngine trainer = policy.newTrainer(5)) {
      trainer.save(state);
    }
  }

  /** Also where the new group has another number of ranks. */
  @ParameterizedTest
  @CsvSource({"FLOAT32,2", "FLOAT32,3", "BFLOAT16,2", "BFLOAT16,3"})
  void continueAfter_copiesOfAnotherGroup_hasItsBits(Precision precision, int size)
      throws Exception {
    DjlPolicy policy = policy(precision);
    saveFirstState(policy);
    List<TrainerRank> first = begun(policy, 2);
    step(first, 1);
    List<StatePiece> copies =
        all(
            2,
            rank -> {
              long elements = first.get(rank).pieceElements();
              StatePiece copy =
                  StatePiece.in(
                      MemorySegment.ofArray(
                          new float[Math.toIntExact(elements * StatePiece.ARRAYS)]),
                      rank * elements);
              first.get(rank).copyTo(copy);
              return copy;
            });
    List<TrainerRank> second = begun(policy, size);
    all(
        size,
        rank -> {
          copies.forEach(second.get(rank)::take);
          second.get(rank).continueAfter(1);
          return rank;
        });
    assertThat(state(second)).isEqualTo(state(first));
    if (size == 2) {
      assertThat(norm(step(second, 2))).isEqualTo(norm(step(first, 2)));
      assertThat(state(second)).isEqualTo(state(first));
    }
    first.forEach(TrainerRank::close);
    second.forEach(TrainerRank::close);
    policy.close(); // No engine of a rank is left open.
  }
}
