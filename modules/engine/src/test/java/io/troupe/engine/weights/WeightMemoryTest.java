package io.troupe.engine.weights;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The times at which memory that is out of use is collected. */
final class WeightMemoryTest {
  private final AtomicInteger collections = new AtomicInteger();
  private final WeightMemory memory = new WeightMemory(100, collections::incrementAndGet);

  @Test
  void count_upToTheLimit_collectsOnceItIsPassed() {
    memory.count(60);
    memory.count(40);
    assertThat(collections).hasValue(0);

    memory.count(1);

    assertThat(collections).hasValue(1);
  }

  @Test
  void count_anyAmounts_collectsOnceForEachLimit() {
    for (int i = 0; i < 505; i++) {
      memory.count(20);
    }

    assertThat(collections).as("the sixth of 20 each passes 100").hasValue(505 / 6);
  }

  @Test
  void count_oneTensorBeyondTheLimit_collectsEachTime() {
    memory.count(1_000);
    memory.count(1_000);

    assertThat(collections).hasValue(2);
  }

  @Test
  void count_manyThreads_collectOnceForEachLimit() {
    IntStream.range(0, 6_000).parallel().forEach(_ -> memory.count(20));

    assertThat(collections).hasValue(1_000);
  }

  /** The limit of direct buffers, by default that of the heap, says nothing of weights. */
  @Test
  void arena_moreThanTheLimitOfDirectBuffers_isAllocated() {
    long bytes = Runtime.getRuntime().maxMemory() + (1 << 20);

    MemorySegment memory = WeightMemory.arena(0).allocate(bytes, 64);

    memory.set(ValueLayout.JAVA_BYTE, bytes - 1, (byte) 7); // the pages between stay untouched
    assertThat(memory.byteSize()).isEqualTo(bytes);
    assertThat(memory.address() % 64).isZero();
    assertThat(memory.get(ValueLayout.JAVA_BYTE, bytes - 1)).isEqualTo((byte) 7);
  }
}
