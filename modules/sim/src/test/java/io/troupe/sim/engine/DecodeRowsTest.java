package io.troupe.sim.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.run.Input;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class DecodeRowsTest {
  private record Row(double leaves, ActiveGroup group, int index) {}

  private record Answers(int completions) implements GroupContent {
    @Override
    public boolean followsWeights() {
      return false;
    }

    @Override
    public int[] lengths(TokenVersions versions) {
      return new int[completions];
    }

    @Override
    public Input judged(LeaseId lease, List<TokenVersions> versions) {
      return new Input.GroupSampled(lease);
    }
  }

  /** The heap holds the rows of a plain list, and its first one is the least of them. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void anySequence_firstIsTheLeastOfAPlainList(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Row> expected = new ArrayList<>();
    DecodeRows rows = new DecodeRows();
    for (int step = 0; step < 300; step++) {
      if (random.nextInt(3) > 0) {
        ActiveGroup group = new ActiveGroup(new LeaseId(new GroupId(1 + step), 1), new Answers(16));
        group.join(random.nextInt(50));
        Row row = new Row(random.nextInt(60), group, random.nextInt(16));
        rows.add(row.leaves, row.group, row.index);
        expected.add(row);
      } else if (random.nextInt(20) == 0) {
        boolean even = random.nextBoolean();
        List<Row> removed = new ArrayList<>();
        rows.removeIf(
            group -> group.lease().group().number() % 2 == 0 == even,
            (group, index) -> removed.add(new Row(0, group, index)));
        List<Row> gone =
            expected.stream()
                .filter(row -> row.group.lease().group().number() % 2 == 0 == even)
                .toList();
        expected.removeAll(gone);
        assertThat(removed)
            .containsExactlyInAnyOrderElementsOf(
                gone.stream().map(row -> new Row(0, row.group, row.index)).toList());
      } else if (!expected.isEmpty()) {
        double least = expected.stream().mapToDouble(Row::leaves).min().orElseThrow();
        assertThat(rows.firstLeaves()).isEqualTo(least);
        assertThat(expected.remove(new Row(least, rows.firstGroup(), rows.firstIndex()))).isTrue();
        rows.removeFirst();
      }
      assertThat(rows.size()).isEqualTo(expected.size());
      assertThat(rows.oldestJoin(40))
          .isEqualTo(
              Math.min(
                  40, expected.stream().mapToDouble(row -> row.group.joined()).min().orElse(40)));
    }
    expected.sort(Comparator.comparingDouble(Row::leaves));
    for (Row row : expected) {
      assertThat(rows.firstLeaves()).isEqualTo(row.leaves);
      rows.removeFirst();
    }
  }
}
