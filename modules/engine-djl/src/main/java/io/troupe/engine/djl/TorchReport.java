package io.troupe.engine.djl;

import ai.djl.engine.Engine;
import ai.djl.pytorch.jni.LibUtils;
import ai.djl.pytorch.jni.TorchBridge;
import java.util.regex.Pattern;

/**
 * The PyTorch that this process loaded.
 *
 * @param version of libtorch
 * @param library folder it was loaded from
 * @param gpus CUDA devices it sees
 * @param threads it would take by itself
 */
public record TorchReport(String version, String library, int gpus, int threads) {
  private static final Pattern FLAVOUR = Pattern.compile("-(cpu|cu\\d+)");

  /** The version of libtorch that the native binding in the class path was built for. */
  public static final String BINDING = "2.7.1";

  /**
   * Loads PyTorch and looks at it.
   *
   * @throws IllegalStateException if it cannot be loaded; the message says what to look at
   */
  public static TorchReport load() {
    String version = Torch.load();
    return new TorchReport(
        version,
        LibUtils.getLibtorchPath(),
        Engine.getEngine("PyTorch").getGpuCount(),
        TorchBridge.threads());
  }

  /** The build, such as cpu or cu124, which the folder's name tells. */
  public String flavour() {
    return FLAVOUR
        .matcher(library)
        .results()
        .map(found -> found.group(1))
        .findFirst()
        .orElse(gpus > 0 ? "cuda" : "unknown");
  }
}
