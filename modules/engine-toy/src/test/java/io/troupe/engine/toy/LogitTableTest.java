package io.troupe.engine.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LogitTableTest {
  private final LogitTable table = new LogitTable(new ToySettings("a", 8, 2, 5, Duration.ZERO), 3);

  @Test
  void logProbs_atATemperature_areTheSoftmaxOfTheDividedLogits() {
    float[] weights = new float[table.parameters()];
    weights[4] = 2;

    double certain = Math.exp(2 / 0.5);
    assertThat(table.logProbs(weights, 3, 0.5))
        .containsExactly(
            new double[] {
              -Math.log(2 + certain), Math.log(certain / (2 + certain)), -Math.log(2 + certain)
            },
            within(1e-12));
    assertThat(table.logProbs(weights, 0, 0.5))
        .containsExactly(new double[] {-Math.log(3), -Math.log(3), -Math.log(3)}, within(1e-12));
  }

  @Test
  void logProbs_logitsOfHundreds_stayFinite() {
    float[] weights = new float[table.parameters()];
    weights[0] = 1000;

    assertThat(table.logProbs(weights, 0, 1)).containsExactly(0, -1000, -1000);
  }

  @Test
  void row_always_dependsOnTheSumAndThePositionUpToTheLast() {
    assertThat(table.row(new int[] {1, 2}, 0)).isEqualTo(9);
    assertThat(table.row(new int[] {2, 0, 1}, 0)).isEqualTo(9);
    assertThat(table.row(new int[] {2, 2, 2, 2}, 0)).isEqualTo(9); // 8 mod 5 rows
    assertThat(table.row(new int[] {1, 2}, 1)).isEqualTo(15 + 9);
    assertThat(table.row(new int[] {1, 2}, 7)).isEqualTo(15 + 9);
  }

  @Test
  void greediest_equalLogits_takesTheFirst() {
    float[] weights = new float[table.parameters()];
    assertThat(table.argmax(weights, 0)).isZero();
    weights[1] = 1;
    weights[2] = 1;
    assertThat(table.argmax(weights, 0)).isEqualTo(1);
  }
}
