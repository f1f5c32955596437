package io.troupe.engine.djl.torch;

import ai.djl.engine.EngineException;
import ai.djl.pytorch.jni.TorchBridge;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * The policy's TorchScript program, {@code policy.py}, loaded. It has no state; each engine loads
 * its own, so that engines share nothing.
 */
public final class TorchProgram implements AutoCloseable {
  private static final String SOURCE = "policy.py";

  private final long module;
  private final Consumer<String> watcher;
  private boolean open = true;

  private TorchProgram(long module, Consumer<String> watcher) {
    this.module = module;
    this.watcher = watcher;
  }

  /**
   * Loads the program.
   *
   * @param watcher receives the name of each method before the call; an exception that it throws is
   *     the outcome of the call
   */
  public static TorchProgram load(Consumer<String> watcher) {
    try (InputStream source = TorchProgram.class.getResourceAsStream(SOURCE)) {
      if (source == null) {
        throw new IllegalStateException("the resource %s is missing".formatted(SOURCE));
      }
      byte[] archive = TorchScriptArchive.pack(source.readAllBytes());
      return new TorchProgram(TorchBridge.loadModule(new ByteArrayInputStream(archive)), watcher);
    } catch (IOException failure) {
      throw new UncheckedIOException("the resource %s cannot be read".formatted(SOURCE), failure);
    }
  }

  /** Begins a call of a method; the caller adds the arguments in order. */
  public Call call(String method) {
    return new Call(method);
  }

  /** Creates a tensor of zeros on the host; the watcher receives {@code zeros}. */
  public NativeTensor zeros(NativeTensor.ElementType type, long... shape) {
    return zeros(Device.host(), type, shape);
  }

  /** Zeros on a device. */
  public NativeTensor zeros(Device on, NativeTensor.ElementType type, long... shape) {
    announce("zeros");
    return NativeTensor.zeros(on, type, shape);
  }

  private void announce(String call) {
    try {
      watcher.accept(call);
    } catch (EngineException failure) {
      throw TorchOutOfMemoryException.orItself(failure);
    }
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      TorchBridge.deleteModule(module);
    }
  }

  /** One call; {@link #close} frees the arguments that were made for it. */
  public final class Call implements AutoCloseable {
    private final String method;
    private final List<TorchValue> made = new ArrayList<>();
    private long[] handles = new long[24];
    private int count;

    private Call(String method) {
      this.method = method;
    }

    /** Adds an argument that outlives the call. */
    public Call with(TorchValue value) {
      if (count == handles.length) {
        handles = Arrays.copyOf(handles, 2 * count);
      }
      handles[count++] = value.handle();
      return this;
    }

    public Call with(NativeTensor tensor) {
      return own(TorchValue.of(tensor));
    }

    public Call with(long number) {
      return own(TorchValue.of(number));
    }

    public Call with(long[] numbers) {
      return own(TorchValue.of(numbers));
    }

    public Call with(double number) {
      return own(TorchValue.of(number));
    }

    /** Runs a method that changes its arguments and returns nothing. */
    public void run() {
      TorchBridge.deleteValue(result());
    }

    /** Runs a method that returns numbers. */
    public double[] numbers() {
      try (TorchValue result = new TorchValue(result())) {
        return TorchBridge.toDoubles(result.handle());
      }
    }

    /** Runs a method that returns a tensor of the given type and number of elements. */
    public NativeTensor tensor(NativeTensor.ElementType type, long elements) {
      try (TorchValue result = new TorchValue(result())) {
        return NativeTensor.of(TorchBridge.toTensor(result.handle()), type, elements);
      }
    }

    /** Runs a method that returns a tensor that Java does not read. */
    public NativeTensor opaque() {
      try (TorchValue result = new TorchValue(result())) {
        return NativeTensor.opaque(TorchBridge.toTensor(result.handle()));
      }
    }

    /** Runs a method that returns weights or another value that only the program reads. */
    TorchValue value() {
      return new TorchValue(result());
    }

    /** Runs a method that returns tensors; the caller frees the handles. */
    public long[] tensorHandles() {
      try (TorchValue result = new TorchValue(result())) {
        return TorchBridge.toTensors(result.handle());
      }
    }

    private long result() {
      announce(method);
      try {
        return TorchBridge.run(module, method, Arrays.copyOf(handles, count));
      } catch (EngineException failure) {
        throw TorchOutOfMemoryException.orItself(failure);
      }
    }

    private Call own(TorchValue value) {
      made.add(value);
      return with(value);
    }

    @Override
    public void close() {
      made.forEach(TorchValue::close);
    }
  }
}
