package io.troupe.engine.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class SpanTest {
  @Test
  void slice_ofTheHost_isTheSamePlaceInMemory() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(64, 8);
      Span part = Span.of(memory, Span.Element.BF16).slice(4, 6);
      assertThat(part.address()).isEqualTo(memory.address() + 8);
      assertThat(part.bytes()).isEqualTo(12);
      assertThat(part.count()).isEqualTo(6);
      assertThat(part.memory().address()).isEqualTo(memory.address() + 8);
    }
  }

  @Test
  void slice_ofADevice_isArithmeticWithinItsBounds() {
    Span span = Span.onDevice(1 << 20, 4000, Span.Element.F32);
    assertThat(span.slice(10, 990))
        .isEqualTo(Span.onDevice((1 << 20) + 40, 3960, Span.Element.F32));
    assertThatThrownBy(() -> span.slice(10, 991))
        .hasMessage("elements 10 to 1001 of a span of 1000");
  }

  @Test
  void memory_ofADevice_isRefused() {
    assertThatThrownBy(() -> Span.onDevice(1, 8, Span.Element.F64).memory())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "a span of 8 bytes is in a device's memory, which the host cannot read: copy it first");
  }

  @Test
  void of_brokenElement_isRefused() {
    assertThatThrownBy(() -> Span.floats(MemorySegment.ofArray(new byte[6])))
        .hasMessage("a span of F32 has a multiple of 4 bytes, not 6");
  }

  @Test
  void address_ofTheJavaHeap_isRefused() {
    assertThatThrownBy(() -> Span.floats(MemorySegment.ofArray(new float[2])).address())
        .hasMessage("an array of the Java heap has no address");
  }
}
