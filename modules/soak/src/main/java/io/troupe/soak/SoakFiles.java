package io.troupe.soak;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** What a soaked run is made of: its configuration, and the program that judges its answers. */
final class SoakFiles {
  private SoakFiles() {}

  /** Writes both into a folder, and returns the path of the configuration. */
  static Path write(Path folder, String configuration) throws IOException {
    Path verifier = folder.resolve("verifier.py").toAbsolutePath();
    Files.writeString(verifier, resource("verifier.py"));
    return Files.writeString(
        folder.resolve(configuration).toAbsolutePath(),
        resource(configuration).replace("VERIFIER", verifier.toString()));
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = Objects.requireNonNull(Soak.class.getResourceAsStream(name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
