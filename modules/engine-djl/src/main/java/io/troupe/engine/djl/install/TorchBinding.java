package io.troupe.engine.djl.install;

import java.nio.file.Path;

/** Whether DJL can compute with an installed PyTorch. */
public sealed interface TorchBinding {
  /** DJL's own binding fits, because it was built for this version. */
  record Bundled() implements TorchBinding {}

  /**
   * A binding was built for exactly this PyTorch.
   *
   * @param folder of the cache that holds it
   */
  record Built(Path folder) implements TorchBinding {}

  /** No binding was built for this version. */
  record Absent() implements TorchBinding {}

  /**
   * A binding was built, and the PyTorch was replaced since.
   *
   * @param torch version it was built for
   */
  record Outdated(String torch) implements TorchBinding {}

  /**
   * A binding is there that cannot be used.
   *
   * @param folder of the cache that holds it
   * @param reason the fault of the binding
   */
  record Broken(Path folder, String reason) implements TorchBinding {}
}
