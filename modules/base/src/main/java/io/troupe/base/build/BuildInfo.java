package io.troupe.base.build;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Properties;

/** What this program is. */
public final class BuildInfo {
  private BuildInfo() {}

  /** The version of the parent POM. */
  public static String version() {
    Properties properties = new Properties();
    try (InputStream in = BuildInfo.class.getResourceAsStream("build.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "unknown");
  }

  /** The work tree the launcher started it from; the present folder without the launcher. */
  public static Path home() {
    return Path.of(System.getProperty("troupe.home", ".")).toAbsolutePath().normalize();
  }
}
