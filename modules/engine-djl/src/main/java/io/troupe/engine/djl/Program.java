package io.troupe.engine.djl;

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
final class Program implements AutoCloseable {
  private static final String SOURCE = "policy.py";

  private final long module;
  private final Consumer<String> watcher;
  private boolean open = true;

  private Program(long module, Consumer<String> watcher) {
    this.module = module;
    this.watcher = watcher;
  }

  /**
   * Loads the program.
   *
   * @param watcher told each method before it is called; what it throws is the call's outcome
   */
  static Program load(Consumer<String> watcher) {
    try (InputStream source = Program.class.getResourceAsStream(SOURCE)) {
      if (source == null) {
        throw new IllegalStateException("the resource %s is missing".formatted(SOURCE));
      }
      byte[] archive = ProgramArchive.pack(source.readAllBytes());
      return new Program(TorchBridge.loadModule(new ByteArrayInputStream(archive)), watcher);
    } catch (IOException failure) {
      throw new UncheckedIOException("the resource %s cannot be read".formatted(SOURCE), failure);
    }
  }

  /** A call of a method, to be given its arguments in order. */
  Call call(String method) {
    return new Call(method);
  }

  /** Zeros on the host; the watcher is told {@code zeros}. */
  NativeTensor zeros(NativeTensor.DType type, long... shape) {
    announce("zeros");
    return NativeTensor.zeros(type, shape);
  }

  private void announce(String call) {
    try {
      watcher.accept(call);
    } catch (EngineException failure) {
      throw OutOfMemoryException.orItself(failure);
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
  final class Call implements AutoCloseable {
    private final String method;
    private final List<Value> made = new ArrayList<>();
    private long[] handles = new long[24];
    private int count;

    private Call(String method) {
      this.method = method;
    }

    /** An argument that outlives the call. */
    Call with(Value value) {
      if (count == handles.length) {
        handles = Arrays.copyOf(handles, 2 * count);
      }
      handles[count++] = value.handle();
      return this;
    }

    Call with(NativeTensor tensor) {
      return own(Value.of(tensor));
    }

    Call with(long number) {
      return own(Value.of(number));
    }

    Call with(long[] numbers) {
      return own(Value.of(numbers));
    }

    Call with(double number) {
      return own(Value.of(number));
    }

    /** Runs the method for what it does to its arguments. */
    void run() {
      TorchBridge.deleteValue(result());
    }

    /** Runs a method that returns numbers. */
    double[] numbers() {
      try (Value result = new Value(result())) {
        return TorchBridge.toDoubles(result.handle());
      }
    }

    /** Runs a method that returns a tensor of the given type and number of elements. */
    NativeTensor tensor(NativeTensor.DType type, long elements) {
      try (Value result = new Value(result())) {
        return NativeTensor.of(TorchBridge.toTensor(result.handle()), type, elements);
      }
    }

    /** Runs a method that returns a tensor that Java does not look into. */
    NativeTensor opaque() {
      try (Value result = new Value(result())) {
        return NativeTensor.opaque(TorchBridge.toTensor(result.handle()));
      }
    }

    /** Runs a method that returns weights, or anything else that only the program looks into. */
    Value value() {
      return new Value(result());
    }

    /** Runs a method that returns tensors; the caller frees the handles. */
    long[] tensorHandles() {
      try (Value result = new Value(result())) {
        return TorchBridge.toTensors(result.handle());
      }
    }

    private long result() {
      announce(method);
      try {
        return TorchBridge.run(module, method, Arrays.copyOf(handles, count));
      } catch (EngineException failure) {
        throw OutOfMemoryException.orItself(failure);
      }
    }

    private Call own(Value value) {
      made.add(value);
      return with(value);
    }

    @Override
    public void close() {
      made.forEach(Value::close);
    }
  }
}
