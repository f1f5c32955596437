package io.troupe.core.outage;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RestartBackoffTest {
  private static final RestartBackoff.Settings POLICY =
      new RestartBackoff.Settings(4, 10_000, 100, 250, 6_000);

  @Test
  void ended_againAndAgain_pausesDoubleUpToTheLongestThenAreLong() {
    RestartBackoff restarts = RestartBackoff.none(POLICY);
    List<Long> pauses = new ArrayList<>();
    List<Boolean> persistent = new ArrayList<>();
    for (long now = 0; now < 5; now++) {
      restarts = restarts.ended(now);
      pauses.add(restarts.pauseMillis());
      persistent.add(restarts.persistent());
    }
    assertThat(pauses).containsExactly(100L, 200L, 250L, 6_000L, 6_000L);
    assertThat(persistent).containsExactly(false, false, false, true, true);
  }

  @Test
  void ended_afterEachLongPause_staysPersistentForEver() {
    RestartBackoff restarts = RestartBackoff.none(POLICY).ended(0).ended(1).ended(2).ended(3);
    for (long now = 6_003; now < 1_000_000; now += 6_000) {
      restarts = restarts.ended(now);
      assertThat(restarts.pauseMillis()).isEqualTo(6_000);
      assertThat(restarts.endings()).hasSize(4);
    }
  }

  @Test
  void ended_afterAWindowWithoutAnEnd_startsAfresh() {
    RestartBackoff few = RestartBackoff.none(POLICY).ended(0).ended(1).ended(2).ended(10_003);
    assertThat(few.pauseMillis()).isEqualTo(100);
    RestartBackoff many =
        RestartBackoff.none(POLICY).ended(0).ended(1).ended(2).ended(3).ended(10_004);
    assertThat(many.pauseMillis()).isEqualTo(100);
  }
}
