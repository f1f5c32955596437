package io.troupe.benchmarks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuMeasurement.Bar;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuShape;
import io.troupe.benchmarks.gpu.row.TrainingLoad;
import io.troupe.benchmarks.gpu.work.GpuWorks;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class GpuRowTest {
  private static final long H100 = 85_000_000_000L;
  private static final long H200 = 150_000_000_000L;

  /** The numbers of parameters of the published models. */
  @ParameterizedTest
  @CsvSource({
    "QWEN3_0_6B, 596_049_920",
    "QWEN3_1_7B, 1_720_574_976",
    "QWEN3_4B, 4_022_468_096",
  })
  void parameters_ofAPublishedShape_areItsNumber(GpuShape shape, String parameters) {
    assertThat(shape.parameters()).isEqualTo(Long.parseLong(parameters.replace("_", "")));
  }

  @Test
  void operationsPerToken_of1_7B_areSixAParameterAndAttention() {
    double attention = 6.0 * 28 * 16 * 128 * 4096;
    assertThat(GpuShape.QWEN3_1_7B.operationsPerToken(4096))
        .isBetween(6 * 1.7204e9 + attention, 6 * 1.7206e9 + attention);
  }

  @Test
  void bytes_ofFullSteps_areThoseOfTheFormula() {
    // 18 bytes a parameter, and the activations of 16,384 tokens.
    assertThat(load(GpuRow.G2, 0).bytes() / 1e9).isBetween(35.0, 40.0);
    assertThat(load(GpuRow.G2, 1).bytes() / 1e9).isBetween(77.0, 85.0);
    assertThat(load(GpuRow.P2, 0).bytes() / 1e9).isBetween(4.0, 8.0);
  }

  @Test
  void obstacle_4BOnAnH100_isItsMemory() {
    GpuRow.Part part = GpuRow.G2.parts().get(1);
    GpuSetting small = setting(false, H100 * 9 / 10);
    assertThat(GpuRow.G2.obstacle(small, part))
        .hasValueSatisfying(why -> assertThat(why).contains("4B takes about"));
    assertThat(GpuRow.G2.obstacle(setting(false, H200), part)).isEmpty();
    assertThat(GpuRow.G2.obstacle(setting(true, H100), part)).isEmpty();
  }

  @Test
  void obstacle_noStandIn_namesTheCompiler() {
    GpuSetting bare =
        new GpuSetting(true, true, "python3", "", "", "", "", machine(Long.MAX_VALUE));
    assertThat(GpuRow.G6.obstacle(bare, new GpuRow.Whole()))
        .hasValueSatisfying(why -> assertThat(why).contains("install gcc"));
    assertThat(GpuRow.G4.obstacle(bare, new GpuRow.Whole())).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(GpuRow.class)
  void work_ofEveryPart_isThere(GpuRow row) {
    assertThat(row.parts())
        .isNotEmpty()
        .allSatisfy(part -> assertThat(GpuWorks.of(row, part)).isNotNull());
  }

  @Test
  void isKept_byValueAndByRatio_comparesWithTheBar() {
    assertThat(measured(20, OptionalDouble.empty(), Bar.atMost(25)).isKept()).isTrue();
    assertThat(measured(26, OptionalDouble.empty(), Bar.atMost(25)).isKept()).isFalse();
    assertThat(measured(24, OptionalDouble.empty(), Bar.atLeast(25)).isKept()).isFalse();
    assertThat(measured(8, OptionalDouble.of(10), Bar.ratioAtLeast(.85)).isKept()).isFalse();
    assertThat(measured(9, OptionalDouble.of(10), Bar.ratioAtLeast(.85)).isKept()).isTrue();
    assertThat(measured(8, OptionalDouble.of(10), Bar.ratioAtLeast(.85)).withoutBar().isKept())
        .isTrue();
  }

  private static TrainingLoad load(GpuRow row, int part) {
    return ((GpuRow.Training) row.parts().get(part)).load();
  }

  private static GpuMeasurement measured(double ours, OptionalDouble theirs, Bar bar) {
    return new GpuMeasurement(GpuRow.G4, "a number", "ms", ours, theirs, bar);
  }

  private static GpuSetting setting(boolean tiny, long memory) {
    return new GpuSetting(false, tiny, "python3", "", "nccl", "cudart", "", machine(memory));
  }

  private static GpuSetting.Machine machine(long memory) {
    return new GpuSetting.Machine("a device", "", 1, memory, 0);
  }
}
