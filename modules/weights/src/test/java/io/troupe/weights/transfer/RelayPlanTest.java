package io.troupe.weights.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RelayPlanTest {
  @Test
  void of_chain_eachFetchesFromTheOneBefore() {
    assertThat(RelayPlan.of("p", List.of("a", "b", "c"), Set.of(), 1).sources())
        .isEqualTo(Map.of("a", List.of("p"), "b", List.of("a", "p"), "c", List.of("b", "a", "p")));
  }

  @Test
  void of_doubtfulNode_feedsNobody() {
    assertThat(RelayPlan.of("p", List.of("a", "b", "c"), Set.of("b"), 1).sources())
        .isEqualTo(Map.of("a", List.of("p"), "c", List.of("a", "p"), "b", List.of("c", "a", "p")));
  }

  @Test
  void of_onlyDoubtfulNodes_allFetchFromThePublisher() {
    assertThat(RelayPlan.of("p", List.of("a", "b"), Set.of("a", "b"), 2).sources())
        .isEqualTo(Map.of("a", List.of("p"), "b", List.of("p")));
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_anyNodes_noCycleAndThePublisherLast(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Integer> nodes = IntStream.range(0, random.nextInt(40)).boxed().toList();
    Set<Integer> doubtful =
        new HashSet<>(nodes.stream().filter(_ -> random.nextInt(5) == 0).toList());
    int fanOut = 1 + random.nextInt(4);
    RelayPlan<Integer> plan = RelayPlan.of(-1, nodes, doubtful, fanOut);
    assertThat(plan.sources().keySet()).isEqualTo(Set.copyOf(nodes));
    for (int node : nodes) {
      List<Integer> sources = plan.of(node);
      assertThat(sources).doesNotContain(node).doesNotHaveDuplicates().endsWith(-1);
      assertThat(sources.stream().filter(doubtful::contains)).isEmpty();
      if (sources.size() > 1) {
        assertThat(sources.subList(1, sources.size())).isEqualTo(plan.of(sources.getFirst()));
      }
    }
    for (int source = -1; source < nodes.size(); source++) {
      int each = source;
      assertThat(
              nodes.stream()
                  .filter(n -> !doubtful.contains(n) && plan.of(n).getFirst() == each)
                  .count())
          .isLessThanOrEqualTo(fanOut);
    }
  }
}
