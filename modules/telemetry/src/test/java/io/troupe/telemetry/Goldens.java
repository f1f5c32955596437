package io.troupe.telemetry;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Texts that an output must equal, from the test resources. */
final class Goldens {
  private Goldens() {}

  static String text(String name) {
    try (InputStream golden =
        Objects.requireNonNull(Goldens.class.getResourceAsStream(name), name)) {
      return new String(golden.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
