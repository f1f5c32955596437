package io.troupe.engine.weights;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.weights.WeightSnapshot.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdapterTest {
  private static final Tensor MATRIX = floats("q_proj.weight", List.of(2L, 3L), 1, 2, 3, 4, 5, 6);
  private static final Tensor OTHER = floats("norm.weight", List.of(2L), 7, 8);

  private static Tensor floats(String name, List<Long> shape, float... values) {
    ByteBuffer bytes =
        ByteBuffer.allocateDirect(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return new Tensor(name, shape, MemorySegment.ofBuffer(bytes));
  }

  private static float[] values(Tensor tensor) {
    return tensor
        .data()
        .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN));
  }

  private static Adapter adapter(float... up) {
    return new Adapter(
        1,
        2,
        List.of("q_proj"),
        List.of(
            floats("base_model.model.q_proj.lora_A.weight", List.of(1L, 3L), 1, 0, -1),
            floats("base_model.model.q_proj.lora_B.weight", List.of(2L, 1L), up)));
  }

  @Test
  void addedTo_weights_addsTheScaledProduct() {
    List<Tensor> merged = adapter(3, -1).addedTo(List.of(OTHER, MATRIX));
    assertThat(merged.getFirst()).isSameAs(OTHER);
    assertThat(values(merged.getLast())).containsExactly(7, 2, -3, 2, 5, 8);
  }
}
