package io.troupe.engine.djl.install;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The versions and libraries against which a binding was built.
 *
 * @param torch version with its build
 * @param djl version of the binding's sources
 * @param library of that PyTorch
 * @param bindingSha256 of the binding itself
 */
record BindingManifest(String torch, String djl, LibraryDigest library, String bindingSha256) {
  static final String NAME = "binding.json";
  private static final JsonMapper JSON = new JsonMapper();

  void write(Path folder) throws IOException {
    Files.write(folder.resolve(NAME), JSON.writeValueAsBytes(this));
  }

  /** The manifest of a folder; nothing if it has none that can be read. */
  static Optional<BindingManifest> read(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    if (!Files.isRegularFile(file)) {
      return Optional.empty();
    }
    try {
      return Optional.of(JSON.readValue(Files.readString(file), BindingManifest.class));
    } catch (JsonProcessingException cutOff) {
      return Optional.empty();
    }
  }
}
