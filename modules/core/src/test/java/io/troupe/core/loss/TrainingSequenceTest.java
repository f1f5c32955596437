package io.troupe.core.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class TrainingSequenceTest {
  private static TrainingSequence sequence(
      int prompt, int completion, int behaviour, int weights, double advantage) {
    return new TrainingSequence(
        new int[prompt], new int[completion], new float[behaviour], new float[weights], advantage);
  }

  @Test
  void sequence_good_handsItsPartsOut() {
    int[] prompt = {1};
    int[] completion = {2, 3};
    float[] behaviour = {-1, -2};
    float[] weights = {0, .5f};
    TrainingSequence s = new TrainingSequence(prompt, completion, behaviour, weights, -1.5);
    assertThat(s.prompt()).isSameAs(prompt);
    assertThat(s.completion()).isSameAs(completion);
    assertThat(s.behaviourLogProbs()).isSameAs(behaviour);
    assertThat(s.lossWeights()).isSameAs(weights);
    assertThat(s.advantage()).isEqualTo(-1.5);
    assertThat(s.length()).isEqualTo(3);
  }

  @Test
  void sequence_bad_isRefusedByName() {
    assertThatThrownBy(() -> sequence(0, 1, 1, 1, 0)).hasMessage("a prompt has at least one token");
    assertThatThrownBy(() -> sequence(1, 0, 0, 0, 0))
        .hasMessage("a completion has at least one token");
    assertThatThrownBy(() -> sequence(1, 2, 1, 2, 0))
        .hasMessage("2 completion tokens need as many log-probabilities (1) and loss weights (2)");
    assertThatThrownBy(() -> sequence(1, 2, 2, 3, 0))
        .hasMessage("2 completion tokens need as many log-probabilities (2) and loss weights (3)");
    assertThatThrownBy(() -> sequence(1, 1, 1, 1, Double.NaN))
        .hasMessage("an advantage is a finite number, not NaN");
  }
}
