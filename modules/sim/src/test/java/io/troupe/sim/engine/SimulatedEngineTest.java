package io.troupe.sim.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Input;
import io.troupe.core.weights.WeightVersion;
import io.troupe.sim.model.ClusterShape;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.EngineModel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class SimulatedEngineTest {
  private static final int GROUPS = 12;
  private static final int MOST_ROWS = 20;
  private static final double ROW_SECONDS = 0.01;
  private static final DecodeModel BY_ROWS = new DecodeModel.Linear(0.02, ROW_SECONDS, 0);

  private record Given(List<Integer> drawn) implements GroupContent {
    @Override
    public int completions() {
      return drawn.size();
    }

    @Override
    public boolean followsWeights() {
      return false;
    }

    @Override
    public int[] lengths(TokenVersions versions) {
      return drawn.stream().mapToInt(Integer::intValue).toArray();
    }

    @Override
    public Input judged(LeaseId lease, List<TokenVersions> versions) {
      return new Input.GroupSampled(lease);
    }
  }

  /** All groups wait from the first moment on: each token is decoded by itself. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void groupsThatWait_endWhenTokenByTokenDecodingEndsThem(long seed) {
    List<List<Integer>> lengths = lengths(new SplittableRandom(seed));
    Map<Long, Double> expected = tokenByToken(lengths);
    Map<Long, Double> ended = ends(lengths, BY_ROWS, List.of());
    assertThat(ended.keySet()).isEqualTo(expected.keySet());
    // Each leave is rounded up to a microsecond.
    ended.forEach(
        (group, seconds) -> assertThat(seconds).isCloseTo(expected.get(group), within(2e-3)));
  }

  /** Whatever brings the engine up to the present, and changes nothing, changes nothing. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void interruptions_changeNoEnd(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<List<Integer>> lengths = lengths(random);
    DecodeModel model = new DecodeModel.Linear(0.02, ROW_SECONDS, 1e-5);
    List<Long> interruptions = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      interruptions.add(random.nextLong(Agenda.micros(60)));
    }
    Map<Long, Double> undisturbed = ends(lengths, model, List.of());
    Map<Long, Double> disturbed = ends(lengths, model, interruptions);
    assertThat(disturbed.keySet()).isEqualTo(undisturbed.keySet());
    disturbed.forEach(
        (group, seconds) -> assertThat(seconds).isCloseTo(undisturbed.get(group), within(2e-3)));
  }

  private static List<List<Integer>> lengths(SplittableRandom random) {
    List<List<Integer>> lengths = new ArrayList<>();
    for (int i = 0; i < GROUPS; i++) {
      lengths.add(random.ints(1 + random.nextInt(8), 1, 80).boxed().toList());
    }
    return lengths;
  }

  /** Returns the end of each group, in seconds, by its number. */
  private static Map<Long, Double> ends(
      List<List<Integer>> lengths, DecodeModel decode, List<Long> interruptions) {
    Agenda agenda = new Agenda();
    Map<Long, Double> ends = new TreeMap<>();
    SimulatedEngine engine =
        new SimulatedEngine(
            new SimulatedEngine.Parts(
                agenda,
                new EngineModel(decode, 0, 0, 0, 0),
                10,
                MOST_ROWS,
                100,
                0,
                new CpuShares(ClusterShape.CpuShape.NONE),
                1),
            group -> ends.put(group.lease().group().number(), Agenda.seconds(agenda.now())));
    engine.load(WeightVersion.BASE, 0);
    List<ActiveGroup> groups = new ArrayList<>();
    for (List<Integer> drawn : lengths) {
      long number = groups.size() + 1L;
      groups.add(new ActiveGroup(new LeaseId(new GroupId(number), number), new Given(drawn)));
    }
    engine.sample(groups);
    interruptions.forEach(time -> agenda.at(time, _ -> engine.degrade(1), 0));
    while (!agenda.isEmpty()) {
      agenda.step();
    }
    return ends;
  }

  private static Map<Long, Double> tokenByToken(List<List<Integer>> lengths) {
    Map<Long, Double> ends = new TreeMap<>();
    Deque<Integer> waiting = new ArrayDeque<>();
    for (int group = 0; group < lengths.size(); group++) {
      waiting.add(group);
    }
    List<int[]> left = new ArrayList<>(); // Group and tokens to come of each row.
    double seconds = 0;
    while (!waiting.isEmpty() || !left.isEmpty()) {
      while (!waiting.isEmpty()
          && (left.isEmpty()
              || left.size() + lengths.get(waiting.getFirst()).size() <= MOST_ROWS)) {
        int group = waiting.removeFirst();
        for (int length : lengths.get(group)) {
          left.add(new int[] {group, length});
        }
      }
      seconds += 0.02 + ROW_SECONDS * left.size();
      left.forEach(row -> row[1]--);
      for (int[] row : List.copyOf(left)) {
        if (row[1] == 0) {
          left.remove(row);
          ends.put(row[0] + 1L, seconds);
        }
      }
    }
    return ends;
  }
}
