package io.troupe.verifiers.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VerifierQuarantineTest {
  private static final long REST = 1000;

  private final VerifierQuarantine fresh = VerifierQuarantine.none(2, REST);

  @Test
  void failed_withinTheBudget_admits() {
    assertThat(fresh.failed(0).admits(0)).isTrue();
  }

  @Test
  void failed_budgetSpent_refusesUntilTheRestIsOver() {
    VerifierQuarantine closed = fresh.failed(0).failed(10);

    assertThat(closed.closed()).isTrue();
    assertThat(closed.admits(10 + REST - 1)).isFalse();
    assertThat(closed.admits(10 + REST)).isTrue();
  }

  @Test
  void judged_betweenFailures_restoresTheBudget() {
    assertThat(fresh.failed(0).judged().failed(1).closed()).isFalse();
  }

  @Test
  void started_afterTheRest_letsOneProbePass() {
    VerifierQuarantine probing = fresh.failed(0).failed(0).started();

    assertThat(probing.admits(REST)).isFalse();
    assertThat(probing.judged().admits(REST)).isTrue();
    assertThat(probing.judged().closed()).isFalse();
  }

  @Test
  void failed_probe_closesForAnotherRest() {
    VerifierQuarantine again = fresh.failed(0).failed(0).started().failed(REST);

    assertThat(again.admits(2 * REST - 1)).isFalse();
    assertThat(again.admits(2 * REST)).isTrue();
  }
}
