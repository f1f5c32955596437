package io.troupe.engine.djl.torch;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.pytorch.jni.TorchBridge;
import io.troupe.engine.djl.install.TorchSelection;

/**
 * The native library: how it is loaded, and what a thread must set before its first call.
 *
 * <p>Gradient mode, the number of threads and the choice of executor belong to the calling native
 * thread, and a thread's first parallel operation would overwrite its number of threads with the
 * latest number that any thread asked for. {@link #enter} therefore runs a parallel operation first
 * and then sets all three, so that the result of a thread never depends on other threads.
 */
public final class Torch {
  private static final long MORE_THAN_ANY_DEVICE = 1L << 48; // elements
  private static final boolean GROWING_SEGMENTS = CudaAllocator.grows(System.getenv());

  private Torch() {}

  /**
   * Loads PyTorch once a process, without a network.
   *
   * @return version of PyTorch
   * @throws IllegalStateException if the native library cannot be unpacked or loaded, or an
   *     installed PyTorch was chosen that cannot be used
   */
  public static String load() {
    offline();
    MklBranch.choose();
    CudaAllocator.choose();
    TorchSelection.choose("");
    System.setProperty("ai.djl.pytorch.graph_optimizer", "false");
    try {
      return Engine.getEngine("PyTorch").getVersion();
    } catch (EngineException failure) {
      throw new IllegalStateException(
          "PyTorch's native library did not load. It is unpacked once, about 450 MB, into the"
              + " folder DJL_CACHE_DIR (default ~/.djl.ai): check that it can be written, and that"
              + " the"
              + " machine is one the native library was built for (%s, %s)"
                  .formatted(System.getProperty("os.name"), System.getProperty("os.arch")),
          failure);
    }
  }

  /**
   * Forbids DJL's downloads and usage reports; DJL reads these properties while its classes load.
   */
  public static void offline() {
    System.setProperty("ai.djl.offline", "true");
    System.setProperty("OPT_OUT_TRACKING", "true");
  }

  /**
   * Returns memory that CUDA's allocator caches to the device, for allocations of other sizes and
   * other processes. DJL's call for it does nothing in a binding that was built without CUDA's
   * headers, so the allocator is asked for more than any device has: it gives back what it caches
   * before it refuses. An allocator of segments that grow would first take all of the device, so it
   * is not asked; it has no use for sizes either.
   */
  public static void emptyCache(Device device) {
    if (device instanceof Device.Cuda && !GROWING_SEGMENTS) {
      try {
        NativeTensor.zeros(device, NativeTensor.ElementType.FLOAT32, MORE_THAN_ANY_DEVICE).close();
      } catch (TorchOutOfMemoryException _) {
        // As meant: the cache is empty now.
      }
    }
  }

  /** Propagates the gradient of a tensor to the leaves of its graph, and frees the graph. */
  public static void backward(NativeTensor tensor, NativeTensor gradient) {
    try {
      TorchBridge.backward(tensor.handle(), gradient.handle());
    } catch (EngineException failure) {
      throw TorchOutOfMemoryException.orItself(failure);
    }
  }

  /** Prepares the calling thread for calls of the program: see the class. */
  public static void enter(int threads, boolean gradients) {
    share(threads);
    // The plain interpreter: the optimiser recompiles in its first calls, so that a resumed run
    // would differ in the last bits from an unbroken one.
    TorchBridge.setOptimize(false);
    TorchBridge.setGradientMode(gradients);
  }

  /** Sets how many threads share the calling thread's operations. */
  public static void share(int threads) {
    if (TorchBridge.threads() != threads) {
      TorchBridge.setThreads(threads);
    }
  }
}
