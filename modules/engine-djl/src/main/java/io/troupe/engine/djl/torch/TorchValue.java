package io.troupe.engine.djl.torch;

import ai.djl.pytorch.jni.TorchBridge;
import java.util.List;

/** An argument or result of the program: a native value, which {@link #close} frees. */
public final class TorchValue implements AutoCloseable {
  private final long handle;
  private boolean open = true;

  public TorchValue(long handle) {
    this.handle = handle;
  }

  static TorchValue of(long number) {
    return new TorchValue(TorchBridge.valueOf(number));
  }

  public static TorchValue of(double number) {
    return new TorchValue(TorchBridge.valueOf(number));
  }

  public static TorchValue of(long[] numbers) {
    return new TorchValue(TorchBridge.valueOf(numbers));
  }

  /** Creates a value that shares the tensor; the tensor's memory lives until both are closed. */
  public static TorchValue of(NativeTensor tensor) {
    return new TorchValue(TorchBridge.valueOfTensor(tensor.handle()));
  }

  public static TorchValue of(List<NativeTensor> tensors) {
    return new TorchValue(
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
