package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class RestartsTest {
  private static final Restarts.Policy POLICY = new Restarts.Policy(4, 10_000, 100, 250);

  @Test
  void ended_againAndAgain_pausesDoubleUpToTheLongestThenNoMore() {
    Restarts restarts = Restarts.none(POLICY);
    List<Optional<Long>> pauses = new ArrayList<>();
    for (long now = 0; now < 4; now++) {
      restarts = restarts.ended(now);
      pauses.add(restarts.pauseMillis());
    }
    assertThat(pauses)
        .containsExactly(Optional.of(100L), Optional.of(200L), Optional.of(250L), Optional.empty());
  }

  @Test
  void ended_afterAWindowWithoutAnEnd_startsAfresh() {
    Restarts restarts = Restarts.none(POLICY).ended(0).ended(1).ended(2).ended(10_003);
    assertThat(restarts.pauseMillis()).contains(100L);
  }
}
