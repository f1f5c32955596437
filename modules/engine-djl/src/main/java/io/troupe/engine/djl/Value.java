package io.troupe.engine.djl;

import ai.djl.pytorch.jni.TorchBridge;
import java.util.List;

/** An argument or result of the program: a native value, freed by {@link #close}. */
final class Value implements AutoCloseable {
  private final long handle;
  private boolean open = true;

  Value(long handle) {
    this.handle = handle;
  }

  static Value of(long number) {
    return new Value(TorchBridge.valueOf(number));
  }

  static Value of(double number) {
    return new Value(TorchBridge.valueOf(number));
  }

  static Value of(long[] numbers) {
    return new Value(TorchBridge.valueOf(numbers));
  }

  /** A value that shares the tensor; the tensor's memory lives until both are closed. */
  static Value of(NativeTensor tensor) {
    return new Value(TorchBridge.valueOfTensor(tensor.handle()));
  }

  static Value of(List<NativeTensor> tensors) {
    return new Value(
        TorchBridge.valueOfTensors(tensors.stream().mapToLong(NativeTensor::handle).toArray()));
  }

  long handle() {
    if (!open) {
      throw new IllegalStateException("the value is closed");
    }
    return handle;
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      TorchBridge.deleteValue(handle);
    }
  }
}
