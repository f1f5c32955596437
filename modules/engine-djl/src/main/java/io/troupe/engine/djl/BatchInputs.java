package io.troupe.engine.djl;

import io.troupe.engine.djl.NativeTensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Numbers of each row that a call of the program reads; see policy.py's {@code draw}. */
final class BatchInputs implements AutoCloseable {
  private static final int INTEGERS = 4;
  private static final int NUMBERS = 5;
  private static final int FIRST_CAPACITY = 16;

  private int capacity;
  private NativeTensor integerTensor = NativeTensor.zeros(DType.INT64, INTEGERS, 0);
  private NativeTensor numberTensor = NativeTensor.zeros(DType.FLOAT64, NUMBERS, 0);
  private Value integers = Value.of(integerTensor);
  private Value numbers = Value.of(numberTensor);
  private MemorySegment integerMemory = MemorySegment.NULL;
  private MemorySegment numberMemory = MemorySegment.NULL;

  /** Makes room for so many rows; what was written before is lost if there was less. */
  void fit(int rows) {
    if (rows > capacity) {
      close();
      capacity = Math.max(FIRST_CAPACITY, Math.max(rows, 2 * capacity));
      integerTensor = NativeTensor.zeros(DType.INT64, INTEGERS, capacity);
      numberTensor = NativeTensor.zeros(DType.FLOAT64, NUMBERS, capacity);
      integers = Value.of(integerTensor);
      numbers = Value.of(numberTensor);
      integerMemory = integerTensor.memory();
      numberMemory = numberTensor.memory();
    }
  }

  /** Writes what the draw of a row's next token depends on. */
  void draw(int i, DecodeRow row) {
    integer(2, i, row.settings().isGreedy() ? 1 : 0);
    integer(3, i, row.keptTokens());
    number(0, i, row.uniform());
    number(1, i, row.temperature());
    number(2, i, row.settings().isGreedy() ? 1 : row.settings().topP());
    number(3, i, row.settings().isGreedy() ? Double.NEGATIVE_INFINITY : row.logFloor());
    number(4, i, row.settings().repetitionPenalty());
  }

  void integer(int kind, int i, long value) {
    integerMemory.setAtIndex(ValueLayout.JAVA_LONG, (long) kind * capacity + i, value);
  }

  private void number(int kind, int i, double value) {
    numberMemory.setAtIndex(ValueLayout.JAVA_DOUBLE, (long) kind * capacity + i, value);
  }

  Value integers() {
    return integers;
  }

  Value numbers() {
    return numbers;
  }

  @Override
  public void close() {
    integers.close();
    numbers.close();
    integerTensor.close();
    numberTensor.close();
  }
}
