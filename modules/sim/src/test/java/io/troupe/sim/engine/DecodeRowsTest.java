package io.troupe.sim.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Input;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class DecodeRowsTest {
  private static final int COMPLETIONS = 8;
  private static final TokenVersions VERSIONS = TokenVersions.uniform(WeightVersion.BASE, 100);

  private record Row(double leaves, ActiveGroup group, int tokens) {}

  /** Other lengths each time they are asked for. */
  private record Redrawn(SplittableRandom random) implements GroupContent {
    @Override
    public int completions() {
      return COMPLETIONS;
    }

    @Override
    public boolean followsWeights() {
      return true;
    }

    @Override
    public int[] lengths(TokenVersions versions) {
      return random.ints(COMPLETIONS, 1, 60).toArray();
    }

    @Override
    public Input judged(LeaseId lease, List<TokenVersions> versions) {
      return new Input.GroupSampled(lease);
    }
  }

  /** The rows are those of a plain list in the order in which they leave, the last one first. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void anySequence_holdsTheRowsOfASortedList(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Row> expected = new ArrayList<>();
    DecodeRows rows = new DecodeRows();
    for (int step = 0; step < 100; step++) {
      int kind = random.nextInt(10);
      if (kind < 4) {
        ActiveGroup group =
            new ActiveGroup(new LeaseId(new GroupId(1 + step), 1), new Redrawn(random.split()));
        group.join(random.nextInt(50));
        group.sample(VERSIONS);
        rows.add(group);
        for (int length : group.lengths()) {
          expected.add(new Row(group.joined() + length, group, length));
        }
      } else if (kind < 8 && !expected.isEmpty()) {
        int first = random.nextInt(expected.size());
        rows.truncate(first);
        expected.subList(first, expected.size()).clear();
      } else if (!expected.isEmpty()) {
        ActiveGroup group = expected.get(random.nextInt(expected.size())).group;
        long held = expected.stream().filter(row -> row.group == group).count();
        assertThat(rows.remove(group)).isEqualTo(held);
        expected.removeIf(row -> row.group == group);
      }
      expected.sort(Comparator.comparingDouble(Row::leaves).reversed());
      assertThat(rowsOf(rows)).containsExactlyInAnyOrderElementsOf(expected);
      assertThat(rowsOf(rows).stream().map(Row::leaves).toList())
          .isEqualTo(expected.stream().map(Row::leaves).toList());
      assertThat(rows.oldestJoin(40))
          .isEqualTo(
              Math.min(
                  40, expected.stream().mapToDouble(row -> row.group.joined()).min().orElse(40)));
      expected = new ArrayList<>(rowsOf(rows)); // Rows that leave at one step may change places.
    }
  }

  /** Groups that are sampled again have their new lengths, each completion its own. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void reorder_afterNewLengths_isWhatJoiningWithThemIs(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    DecodeRows rows = new DecodeRows();
    List<ActiveGroup> groups = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ActiveGroup group =
          new ActiveGroup(new LeaseId(new GroupId(1 + i), 1), new Redrawn(random.split()));
      group.join(random.nextInt(50));
      group.sample(VERSIONS);
      rows.add(group);
      groups.add(group);
    }
    groups.forEach(group -> group.sample(VERSIONS));
    rows.reorder();
    DecodeRows joined = new DecodeRows();
    groups.forEach(joined::add);
    assertThat(rowsOf(rows)).containsExactlyInAnyOrderElementsOf(rowsOf(joined));
    assertThat(rowsOf(rows).stream().map(Row::leaves).toList())
        .isEqualTo(rowsOf(joined).stream().map(Row::leaves).toList());
  }

  private static List<Row> rowsOf(DecodeRows rows) {
    List<Row> all = new ArrayList<>();
    for (int row = 0; row < rows.size(); row++) {
      all.add(new Row(rows.leaves(row), rows.group(row), rows.tokens(row)));
    }
    return all;
  }
}
