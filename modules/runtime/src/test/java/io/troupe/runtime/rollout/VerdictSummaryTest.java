package io.troupe.runtime.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.telemetry.StepMeter;
import io.troupe.verifiers.pool.PoolReport;
import java.util.List;
import org.junit.jupiter.api.Test;

class VerdictSummaryTest {
  @Test
  void done_severalPools_countsAddUpAndTheSlowestGivesTheTimes() {
    PoolReport math = new PoolReport("math", 3, 1, 100, 2, 4, 0, 1, 0.5, 90, 200, false);
    PoolReport code = new PoolReport("mbpp", 4, 1, 100, 5, 0, 0, 1, 3, 70, 100, false);

    assertThat(VerdictSummary.done(List.of(math, code)))
        .isEqualTo(new StepMeter.Verification(3, 90, 7, 4, 7));
    assertThat(VerdictSummary.done(List.of())).isEqualTo(StepMeter.Verification.NONE);
  }
}
