package io.troupe.engine.djl.torch;

import ai.djl.engine.Engine;
import ai.djl.pytorch.jni.LibUtils;
import ai.djl.pytorch.jni.TorchBridge;
import ai.djl.util.cuda.CudaUtils;
import io.troupe.engine.djl.install.BindingCache;
import io.troupe.engine.djl.install.CudaDevices;
import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchSelection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
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
public record TorchReport(
    String version, String library, List<CudaDevices.Memory> gpus, int threads) {
  public TorchReport {
    gpus = List.copyOf(gpus);
  }

  private static final Pattern FLAVOUR = Pattern.compile("-(cpu|cu\\d+)");

  /** The version of libtorch that the native binding in the class path was built for. */
  public static final String BINDING = BindingCache.BUNDLED;

  /**
   * Loads PyTorch and reads its properties.
   *
   * @throws IllegalStateException if PyTorch cannot be loaded; the message says what to check
   */
  public static TorchReport load() {
    String version = Torch.load();
    return new TorchReport(version, LibUtils.getLibtorchPath(), visible(), TorchBridge.threads());
  }

  private static List<CudaDevices.Memory> visible() {
    Optional<InstalledTorch> installed = TorchSelection.chosen();
    if (installed.isPresent()) {
      try {
        return installed
            .get()
            .cudaRuntime()
            .map(runtime -> CudaDevices.of(runtime).devices())
            .orElse(List.of());
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    }
    return IntStream.range(0, Engine.getEngine("PyTorch").getGpuCount())
        .mapToObj(index -> CudaUtils.getGpuMemory(ai.djl.Device.gpu(index)))
        .map(memory -> new CudaDevices.Memory(memory.getUsed(), memory.getMax()))
        .toList();
  }

  /** Returns the build, such as cpu or cu124, from the name of the folder. */
  public String flavour() {
    Optional<InstalledTorch> installed =
        TorchSelection.chosen().filter(torch -> torch.lib().toString().equals(library));
    if (installed.isPresent()) {
      String cuda = installed.get().cuda();
      return cuda.isEmpty() ? "cpu" : "cu" + cuda.replace(".", "");
    }
    return FLAVOUR
        .matcher(library)
        .results()
        .map(found -> found.group(1))
        .findFirst()
        .orElse(!gpus.isEmpty() ? "cuda" : "unknown");
  }
}
