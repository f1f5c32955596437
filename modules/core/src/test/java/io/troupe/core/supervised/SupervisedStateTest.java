package io.troupe.core.supervised;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** The state of a supervised run's journal. */
final class SupervisedStateTest {
  private static SupervisedEvent stepped(long step) {
    return new SupervisedEvent.Stepped(new SupervisedStep(step, 4, 30, 1.5, 0.5, 1e-3, 0, 0.1));
  }

  @Test
  void evolve_stepsAndSkips_counts() {
    SupervisedState state =
        SupervisedState.INITIAL
            .evolve(new SupervisedEvent.Started(0, 10, "d"))
            .evolve(stepped(1))
            .evolve(new SupervisedEvent.StepSkipped(2, "the loss is NaN"))
            .evolve(new SupervisedEvent.CheckpointSaved(2));

    assertThat(state).isEqualTo(new SupervisedState(2, 4, 30, 1, false));
    assertThat(state.evolve(new SupervisedEvent.Ended(SupervisedEvent.Reason.COMPLETED)).over())
        .isTrue();
    assertThat(state.evolve(new SupervisedEvent.Ended(SupervisedEvent.Reason.INTERRUPTED)).over())
        .isFalse();
  }

  @Test
  void evolve_threeSkipsInARow_isHopeless() {
    SupervisedState state = SupervisedState.INITIAL;
    for (long step = 1; step <= 3; step++) {
      assertThat(state.hopeless()).isFalse();
      state = state.evolve(new SupervisedEvent.StepSkipped(step, "the loss is NaN"));
    }
    assertThat(state.hopeless()).isTrue();
  }

  @Test
  void evolve_stepThatDoesNotFollow_isRefused() {
    assertThatThrownBy(() -> SupervisedState.INITIAL.evolve(stepped(2)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("step 2 follows step 0");
  }
}
