package ai.djl.pytorch.jni;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.NullMarked;

/**
 * The calls of DJL's PyTorch binding that {@code io.troupe.engine.djl} uses, by native handle.
 *
 * <p>It is in DJL's package because the binding is package-private, and DJL's own {@code
 * IValueUtils.runMethod} forces inference mode, which rules out training. Nothing here takes memory
 * of the Java heap or of a Java buffer into a tensor: tensors own what they hold, so that autograd
 * may keep them past the life of any Java object.
 */
@NullMarked
public final class TorchBridge {
  private static final PyTorchLibrary LIB = PyTorchLibrary.LIB;
  private static final int[] CPU = {0, -1};
  private static final int STRIDED = 0;
  private static final int LOAD_BUFFER = 1 << 16;
  private static final long UNTIL_END = -1;

  private TorchBridge() {}

  /** Loads a TorchScript archive; the handle is freed by {@link #deleteModule}. */
  public static long loadModule(InputStream archive) {
    return LIB.moduleLoad(archive, CPU, false, new byte[LOAD_BUFFER], UNTIL_END);
  }

  /** Runs a method in the calling thread's gradient mode and returns its result's handle. */
  public static long run(long module, String method, long[] values) {
    // The flag named "train" only means that the call keeps the thread's gradient mode.
    return LIB.moduleRunMethod(module, method, values, true, false);
  }

  public static void deleteModule(long module) {
    LIB.torchDeleteModule(module);
  }

  /**
   * A new tensor of zeros; {@code dataType} is DJL's number, 0 float32, 1 float64, 6 int64.
   *
   * @param device DJL's pair of type (0 CPU, 1 CUDA) and index
   */
  public static long zeros(long[] shape, int dataType, int[] device) {
    return LIB.torchZeros(shape, dataType, STRIDED, device, false);
  }

  /**
   * Returns a new handle on a copy in the memory of the host, or on the tensor itself if it is
   * there.
   */
  public static long toHost(long tensor, int dataType) {
    return LIB.torchTo(tensor, dataType, CPU);
  }

  /**
   * A new handle on Java's memory as a flat tensor. The memory must live until the handle is
   * deleted.
   */
  public static long over(ByteBuffer memory, int dataType, long elements) {
    return LIB.torchFromBlob(memory, new long[] {elements}, dataType, STRIDED, CPU, false);
  }

  /** Copies a tensor into another tensor of the same shape, from any device to any device. */
  public static void assign(long target, long source, long[] shape) {
    long[] ones = new long[shape.length];
    Arrays.fill(ones, 1);
    LIB.torchIndexPut(target, source, new long[shape.length], shape, ones);
  }

  /** A new tensor handle on a range of the first axis, sharing memory. */
  public static long slice(long tensor, long from, long to) {
    return LIB.torchSlice(tensor, 0, from, to, 1);
  }

  /** A new tensor handle on a contiguous tensor in another shape, sharing memory. */
  public static long view(long tensor, long[] shape) {
    return LIB.torchReshape(tensor, shape);
  }

  /** The memory of a small contiguous tensor, valid while the tensor lives. */
  public static ByteBuffer memory(long tensor) {
    return LIB.torchDirectByteBuffer(tensor);
  }

  public static void requireGradient(long tensor) {
    LIB.torchAttachGrad(tensor, true);
  }

  /**
   * Computes the gradient of a scalar, adds it to the gradients of the leaves, and frees the graph.
   */
  public static void backward(long scalar, long one) {
    LIB.torchBackward(scalar, one, false, false);
  }

  /** A new tensor handle on the same memory, outside any graph. */
  public static long detach(long tensor) {
    return LIB.torchDetachGrad(tensor);
  }

  /** A new handle on the gradient of a leaf that has one. */
  public static long gradient(long leaf) {
    return LIB.torchGrad(leaf);
  }

  public static void deleteTensor(long tensor) {
    LIB.torchDeleteTensor(tensor);
  }

  public static long valueOf(long number) {
    return LIB.iValueFromLong(number);
  }

  public static long valueOf(double number) {
    return LIB.iValueFromDouble(number);
  }

  public static long valueOfTensor(long tensor) {
    return LIB.iValueFromTensor(tensor);
  }

  public static long valueOfTensors(long[] tensors) {
    return LIB.iValueFromTensorList(tensors);
  }

  public static long valueOf(long[] numbers) {
    return LIB.iValueFromLongList(numbers);
  }

  public static long toTensor(long value) {
    return LIB.iValueToTensor(value);
  }

  public static long[] toTensors(long value) {
    return LIB.iValueToTensorList(value);
  }

  public static double[] toDoubles(long value) {
    return LIB.iValueToDoubleList(value);
  }

  public static void deleteValue(long value) {
    LIB.torchDeleteIValue(value);
  }

  public static void setGradientMode(boolean on) {
    LIB.torchSetGradMode(on);
  }

  /** Sets the calling thread's number of PyTorch threads. */
  public static void setThreads(int threads) {
    LIB.torchSetNumThreads(threads);
  }

  /** The calling thread's number of PyTorch threads. */
  public static int threads() {
    return LIB.torchGetNumThreads();
  }

  /** Whether the calling thread's TorchScript calls go through the profiling optimiser. */
  public static void setOptimize(boolean on) {
    LIB.setGraphExecutorOptimize(on);
  }
}
