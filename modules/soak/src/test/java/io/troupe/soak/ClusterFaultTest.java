package io.troupe.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class ClusterFaultTest {
  private static List<ClusterFault> schedule(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return Stream.generate(() -> ClusterFault.next(random)).limit(500).toList();
  }

  @Test
  void next_sameSeed_sameScheduleThatStrikesEveryPart() {
    assertThat(schedule(7)).isEqualTo(schedule(7)).isNotEqualTo(schedule(8));
    Set<ClusterFault.Target> struck = EnumSet.noneOf(ClusterFault.Target.class);
    schedule(7).forEach(blow -> struck.add(blow.kind().target()));
    assertThat(struck).containsExactlyInAnyOrder(ClusterFault.Target.values());
  }

  @Test
  void choose_noSuchProcess_isNone() {
    ClusterFault blow = schedule(7).getFirst();
    assertThat(blow.choose(List.of())).isEmpty();
    assertThat(blow.choose(List.of("only"))).contains("only");
  }
}
