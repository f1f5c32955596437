package io.troupe.app;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Properties;

/** What this program is. */
final class Build {
  private Build() {}

  /** The version of the parent POM. */
  static String version() {
    Properties properties = new Properties();
    try (InputStream in = Build.class.getResourceAsStream("build.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "unknown");
  }

  /** The work tree the launcher started it from; the present folder without the launcher. */
  static Path home() {
    return Path.of(System.getProperty("troupe.home", ".")).toAbsolutePath().normalize();
  }
}
