package io.troupe.soak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class RecoveryTimesTest {
  private static final long SECOND = 1_000_000_000L;
  private static final ClusterFault.Kind KILL =
      new ClusterFault.Kind(ClusterFault.Action.KILL, ClusterFault.Target.COORDINATOR);
  private static final ClusterFault.Kind STOP =
      new ClusterFault.Kind(ClusterFault.Action.STOP, ClusterFault.Target.NODE);

  @Test
  void lines_blowsOneUponTheOther_eachHasItsOwnTimes() {
    RecoveryTimes times = new RecoveryTimes();
    times.injected(KILL, 0);
    times.stepDone(4 * SECOND);
    assertThat(times.pending()).isTrue();
    times.injected(KILL, 5 * SECOND);
    times.injected(STOP, 6 * SECOND);
    times.stepDone(11 * SECOND);
    assertThat(times.recovered(20 * SECOND))
        .hasValueSatisfying(
            line -> assertThat(line).contains("next step after 4.0 s, all at work after 20.0 s"));
    assertThat(times.pending()).isFalse();
    assertThat(times.count()).isEqualTo(3);
    assertThat(times.lines())
        .anyMatch(line -> line.matches("kill coordinator +2 +5.0 s +6.0 s +17.5 s +20.0 s"))
        .anyMatch(line -> line.matches("stop node +1 +5.0 s +5.0 s +14.0 s +14.0 s"))
        .anyMatch(line -> line.matches("all +3 +5.0 s +6.0 s +15.0 s +20.0 s"));
  }

  @Test
  void well_withoutABlow_saysNothing() {
    assertThat(new RecoveryTimes().recovered(1)).isEmpty();
  }
}
