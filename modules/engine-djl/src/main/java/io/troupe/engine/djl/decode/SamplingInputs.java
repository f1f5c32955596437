package io.troupe.engine.djl.decode;

import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.TorchValue;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The numbers of each row that a call of the program reads to sample a token; policy.py's {@code
 * draw} names them.
 */
final class SamplingInputs implements AutoCloseable {
  private static final int INTEGERS = 4;
  private static final int NUMBERS = 5;
  private static final int FIRST_CAPACITY = 16;

  private final Decoder decoder;
  private Table integers;
  private Table numbers;

  /** An array [kinds, capacity] that the program sees. */
  private static final class Table implements AutoCloseable {
    private final int capacity;
    private final NativeTensor tensor;
    private final TorchValue value;
    private final MemorySegment memory;

    Table(NativeTensor zeros, int capacity) {
      this.capacity = capacity;
      this.tensor = zeros;
      this.value = TorchValue.of(zeros);
      this.memory = zeros.memory();
    }

    @Override
    public void close() {
      value.close();
      tensor.close();
    }
  }

  SamplingInputs(Decoder decoder) {
    this.decoder = decoder;
    this.integers = new Table(NativeTensor.zeros(ElementType.INT64, INTEGERS, 0), 0);
    this.numbers = new Table(NativeTensor.zeros(ElementType.FLOAT64, NUMBERS, 0), 0);
  }

  /** Makes room for a number of rows. Growing discards what was written before. */
  void ensureCapacity(int rows) {
    integers = withCapacity(integers, ElementType.INT64, INTEGERS, rows);
    numbers = withCapacity(numbers, ElementType.FLOAT64, NUMBERS, rows);
  }

  private Table withCapacity(Table table, ElementType type, int kinds, int rows) {
    if (rows <= table.capacity) {
      return table;
    }
    int capacity = Math.max(FIRST_CAPACITY, Math.max(rows, 2 * table.capacity));
    Table larger = new Table(decoder.zeros(type, kinds, capacity), capacity);
    table.close();
    return larger;
  }

  /** Writes the inputs from which the program samples the next token of a row. */
  void samplingInputs(int i, DecodeRow row) {
    integer(2, i, row.settings().isGreedy() ? 1 : 0);
    integer(3, i, row.effectiveTopK());
    number(0, i, row.uniform());
    number(1, i, row.temperature());
    number(2, i, row.settings().isGreedy() ? 1 : row.settings().topP());
    number(3, i, row.settings().isGreedy() ? Double.NEGATIVE_INFINITY : row.logFloor());
    number(4, i, row.settings().repetitionPenalty());
  }

  void integer(int kind, int i, long value) {
    long at = (long) kind * integers.capacity + i;
    integers.memory.setAtIndex(ValueLayout.JAVA_LONG, at, value);
  }

  private void number(int kind, int i, double value) {
    long at = (long) kind * numbers.capacity + i;
    numbers.memory.setAtIndex(ValueLayout.JAVA_DOUBLE, at, value);
  }

  TorchValue integers() {
    return integers.value;
  }

  TorchValue numbers() {
    return numbers.value;
  }

  @Override
  public void close() {
    integers.close();
    numbers.close();
  }
}
