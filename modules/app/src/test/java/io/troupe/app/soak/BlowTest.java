package io.troupe.app.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class BlowTest {
  private static List<Blow> schedule(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return Stream.generate(() -> Blow.next(random)).limit(500).toList();
  }

  @Test
  void next_sameSeed_sameScheduleThatStrikesEveryPart() {
    assertThat(schedule(7)).isEqualTo(schedule(7)).isNotEqualTo(schedule(8));
    Set<Blow.Part> struck = EnumSet.noneOf(Blow.Part.class);
    schedule(7).forEach(blow -> struck.add(blow.kind().part()));
    assertThat(struck).containsExactlyInAnyOrder(Blow.Part.values());
  }

  @Test
  void choose_noSuchProcess_isNone() {
    Blow blow = schedule(7).getFirst();
    assertThat(blow.choose(List.of())).isEmpty();
    assertThat(blow.choose(List.of("only"))).contains("only");
  }
}
