package io.troupe.engine.djl.torch;

import ai.djl.engine.Engine;
import ai.djl.pytorch.jni.LibUtils;
import ai.djl.pytorch.jni.TorchBridge;
import ai.djl.util.cuda.CudaUtils;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The PyTorch that this process loaded.
 *
 * @param version of libtorch
 * @param library folder it was loaded from
 * @param gpus visible CUDA devices, in CUDA's order
 * @param threads that PyTorch uses by default
 */
public record TorchReport(String version, String library, List<TorchGpu> gpus, int threads) {
  /**
   * The memory of a CUDA device; {@code used} includes the use of other processes.
   *
   * @param used bytes
   * @param total bytes
   */
  public record TorchGpu(long used, long total) {
    private static TorchGpu of(int index) {
      MemoryUsage memory = CudaUtils.getGpuMemory(ai.djl.Device.gpu(index));
      return new TorchGpu(memory.getUsed(), memory.getMax());
    }
  }

  public TorchReport {
    gpus = List.copyOf(gpus);
  }

  private static final Pattern FLAVOUR = Pattern.compile("-(cpu|cu\\d+)");

  /** The version of libtorch that the native binding in the class path was built for. */
  public static final String BINDING = "2.7.1";

  /**
   * Loads PyTorch and reads its properties.
   *
   * @throws IllegalStateException if PyTorch cannot be loaded; the message says what to check
   */
  public static TorchReport load() {
    String version = Torch.load();
    return new TorchReport(
        version,
        LibUtils.getLibtorchPath(),
        IntStream.range(0, Engine.getEngine("PyTorch").getGpuCount())
            .mapToObj(TorchGpu::of)
            .toList(),
        TorchBridge.threads());
  }

  /** Returns the build, such as cpu or cu124, from the name of the folder. */
  public String flavour() {
    return FLAVOUR
        .matcher(library)
        .results()
        .map(found -> found.group(1))
        .findFirst()
        .orElse(!gpus.isEmpty() ? "cuda" : "unknown");
  }
}
