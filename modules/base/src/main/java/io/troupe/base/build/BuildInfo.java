package io.troupe.base.build;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Properties;

/** The version and the home folder of this program. */
public final class BuildInfo {
  private BuildInfo() {}

  /** Returns the version of the parent POM. */
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

  /**
   * Returns the work tree that the launcher started this process from; without the launcher, the
   * current folder.
   */
  public static Path home() {
    return Path.of(System.getProperty("troupe.home", ".")).toAbsolutePath().normalize();
  }
}
