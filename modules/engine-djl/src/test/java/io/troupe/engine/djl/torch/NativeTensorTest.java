package io.troupe.engine.djl.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.pytorch.jni.TorchBridge;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Copies between Java's memory and tensors, the way of a device's tensors as well. */
final class NativeTensorTest {
  private static final long[] SHAPE = {2, 3};
  private static final float[] NUMBERS = {1, -2.5f, 3, 4, .1f, -6};

  @BeforeAll
  static void load() {
    Torch.load();
    Torch.enter(1, false);
  }

  @Test
  void copies_ofATensorThatJavaDoesNotRead_areThoseOfOneThatJavaReads() {
    try (Arena arena = Arena.ofConfined();
        NativeTensor near = NativeTensor.zeros(ElementType.FLOAT32, SHAPE);
        NativeTensor far = NativeTensor.opaque(TorchBridge.view(near.handle(), SHAPE))) {
      assertThat(far.onHost()).isFalse();
      far.copyFrom(arena.allocateFrom(ValueLayout.JAVA_FLOAT, NUMBERS).asReadOnly());
      assertThat(near.memory().toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(NUMBERS);

      MemorySegment byFar = arena.allocate(ValueLayout.JAVA_FLOAT, NUMBERS.length);
      far.copyTo(byFar);
      MemorySegment byNear = arena.allocate(ValueLayout.JAVA_FLOAT, NUMBERS.length);
      near.copyTo(byNear);
      assertThat(byFar.toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(NUMBERS);
      assertThat(byNear.toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(NUMBERS);
    }
  }

  @Test
  void copyFrom_memoryOfTheHeap_isRefused() {
    try (NativeTensor near = NativeTensor.zeros(ElementType.FLOAT32, SHAPE);
        NativeTensor far = NativeTensor.opaque(TorchBridge.view(near.handle(), SHAPE))) {
      assertThatThrownBy(() -> far.copyFrom(MemorySegment.ofArray(NUMBERS)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("Java's heap");
    }
  }
}
