package io.troupe.engine.djl.torch;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.pytorch.jni.TorchBridge;

/**
 * The native library: its loading, and what a thread must settle before its first call.
 *
 * <p>Gradient mode, the number of threads and the choice of executor belong to the calling native
 * thread, and a thread's first parallel operation would overwrite its number of threads with the
 * latest that any thread asked for. {@link #enter} therefore forces that first time, then sets all
 * three; a thread that calls it computes the same whatever other threads do.
 */
public final class Torch {
  private Torch() {}

  /**
   * Loads PyTorch once a process, without a network.
   *
   * @return its version
   * @throws IllegalStateException if the native library cannot be unpacked or loaded
   */
  public static String load() {
    offline();
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

  /** Forbids DJL downloads, and reports of use to anyone; it reads this while its classes load. */
  public static void offline() {
    System.setProperty("ai.djl.offline", "true");
    System.setProperty("OPT_OUT_TRACKING", "true");
  }

  /** Gives back what CUDA's allocator keeps for later, for allocations of other sizes. */
  public static void emptyCache(Device device) {
    if (device instanceof Device.Cuda) {
      TorchBridge.emptyCudaCache();
    }
  }

  /** Adds to leaves the gradient of what a tensor came from, and frees the graph. */
  public static void backward(NativeTensor tensor, NativeTensor gradient) {
    try {
      TorchBridge.backward(tensor.handle(), gradient.handle());
    } catch (EngineException failure) {
      throw TorchOutOfMemoryException.orItself(failure);
    }
  }

  /** Makes the calling thread fit for the program: see the class. */
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
