package io.troupe.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class RowQueueTest {
  private static final StepRow ZERO = StepRow.before(0.5);
  private static final StepRow ONE = Rows.first();
  private static final StepRow SIXTY = Rows.evaluated();

  @Test
  void ready_rowsWithoutEvaluation_goAtOnceInOrder() {
    RowQueue queue = RowQueue.EMPTY.add(ZERO, false).add(ONE, false);
    assertThat(queue.ready()).containsExactly(ZERO, ONE);
    assertThat(queue.withoutReady()).isEqualTo(RowQueue.EMPTY);
    assertThat(queue.withoutReady().isEmpty()).isTrue();
  }

  @Test
  void ready_rowThatWaits_holdsTheRowsBehindIt() {
    RowQueue queue = RowQueue.EMPTY.add(ONE, false).add(ZERO, true).add(SIXTY, false);
    assertThat(queue.ready()).containsExactly(ONE);
    RowQueue rest = queue.withoutReady();
    assertThat(rest.ready()).isEmpty();
    assertThat(rest.isEmpty()).isFalse();
    RowQueue evaluated = rest.evaluated(0, 0.25);
    assertThat(evaluated.ready()).containsExactly(ZERO.evaluated(0.25), SIXTY);
    assertThat(evaluated.ready().getFirst().eval()).isEqualTo(OptionalDouble.of(0.25));
    assertThat(evaluated.withoutReady().isEmpty()).isTrue();
  }

  @Test
  void evaluated_anotherStep_keepsWaiting() {
    assertThat(RowQueue.EMPTY.add(ZERO, true).evaluated(7, 1).ready()).isEmpty();
  }

  @Test
  void evaluated_laterRowFirst_waitsForTheEarlierOne() {
    RowQueue queue = RowQueue.EMPTY.add(ZERO, true).add(ONE, true).evaluated(1, 0.75);
    assertThat(queue.ready()).isEmpty();
    assertThat(queue.evaluated(0, 0.5).ready())
        .containsExactly(ZERO.evaluated(0.5), ONE.evaluated(0.75));
  }

  @Test
  void missing_someWritten_areTheOthersAndOnlyTheCheckpointsStepIsEvaluatedAgain() {
    RowQueue carried = RowQueue.EMPTY.add(ZERO, true).add(ONE, true).add(SIXTY, true);
    RowQueue missing = carried.missing(0, 60);
    assertThat(missing).isEqualTo(RowQueue.EMPTY.add(ONE, false).add(SIXTY, true));
    assertThat(missing.awaitedEvaluation()).hasValue(60);
    assertThat(carried.missing(60, 60).isEmpty()).isTrue();
    assertThat(RowQueue.EMPTY.add(ZERO, true).missing(-1, 0).awaitedEvaluation()).hasValue(0);
    assertThat(RowQueue.EMPTY.add(ONE, false).missing(0, 1).awaitedEvaluation()).isEmpty();
  }

  @Test
  void after_step_keepsTheLaterRowsAndWhatTheyWaitFor() {
    RowQueue queue = RowQueue.EMPTY.add(ZERO, true).add(ONE, false).add(SIXTY, true);
    assertThat(queue.afterStep(-1)).isEqualTo(queue);
    assertThat(queue.afterStep(1)).isEqualTo(RowQueue.EMPTY.add(SIXTY, true));
  }

  @Test
  void abandoned_evaluationThatFailed_letsTheRowGoWithoutIt() {
    RowQueue queue = RowQueue.EMPTY.add(ZERO, true).add(ONE, true);
    assertThat(queue.withoutEvaluation(1).ready()).isEmpty();
    assertThat(queue.withoutEvaluation(0).ready()).containsExactly(ZERO);
    assertThat(ZERO.eval()).isEmpty();
  }
}
