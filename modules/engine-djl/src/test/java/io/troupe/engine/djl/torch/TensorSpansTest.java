package io.troupe.engine.djl.torch;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.parallel.Span;
import org.junit.jupiter.api.Test;

class TensorSpansTest {
  @Test
  void of_tensorOfTheHost_isItsMemory() {
    TensorSpans spans = TensorSpans.load();
    try (NativeTensor whole = NativeTensor.zeros(ElementType.FLOAT32, 12);
        NativeTensor part = whole.slice(4, 10)) {
      Span.Device span = spans.of(part, Span.Element.F32, 6);
      assertThat(span.address()).isEqualTo(part.memory().address());
      assertThat(span.address()).isEqualTo(whole.memory().address() + 4 * Float.BYTES);
      assertThat(span.bytes()).isEqualTo(24);
    }
  }
}
