package io.troupe.base.build;

import io.troupe.base.hash.Sha256;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The identity of a build of this program: the version, and a digest over all of the program's own
 * classes, packed or not. A commit is not enough, because a work tree may differ from it.
 */
public final class BuildId {
  private static final int DIGITS = 12;
  private static final String OWN = "io/troupe/";

  /**
   * The name of one of the program's jars; in a bundle a number before the name keeps the order.
   */
  private static final Pattern OWN_JAR = Pattern.compile("(?i)(\\d+-)?troupe.*\\.jar");

  private BuildId() {}

  /** Returns the build of this process. */
  public static String ofThisProcess() {
    return of(BuildInfo.version(), System.getProperty("java.class.path"));
  }

  public static String of(String version, String classPath) {
    SortedMap<String, byte[]> digests = new TreeMap<>();
    try {
      for (String entry : classPath.split(File.pathSeparator, -1)) {
        Path path = Path.of(entry);
        if (Files.isDirectory(path)) {
          addFolder(path, digests);
        } else if (OWN_JAR.matcher(String.valueOf(path.getFileName())).matches()) {
          addJar(path, digests);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the program's own classes: " + e.getMessage(), e);
    }
    MessageDigest all = Sha256.digest();
    digests.forEach(
        (name, digest) -> {
          all.update(name.getBytes(StandardCharsets.UTF_8));
          all.update(digest);
        });
    return version + "-" + Sha256.hex(all).substring(0, DIGITS);
  }

  private static void addFolder(Path folder, SortedMap<String, byte[]> digests) throws IOException {
    Path own = folder.resolve(OWN);
    if (!Files.isDirectory(own)) {
      return;
    }
    List<Path> files;
    try (Stream<Path> walk = Files.walk(own)) {
      files = walk.filter(file -> file.toString().endsWith(".class")).toList();
    }
    for (Path file : files) {
      String name = folder.relativize(file).toString().replace(File.separatorChar, '/');
      digests.put(name, Sha256.of(Files.readAllBytes(file)));
    }
  }

  private static void addJar(Path jar, SortedMap<String, byte[]> digests) throws IOException {
    if (!Files.isRegularFile(jar)) {
      return;
    }
    try (JarFile file = new JarFile(jar.toFile())) {
      for (JarEntry entry : new ArrayList<>(Collections.list(file.entries()))) {
        if (entry.getName().startsWith(OWN) && entry.getName().endsWith(".class")) {
          try (var in = file.getInputStream(entry)) {
            digests.put(entry.getName(), Sha256.of(in.readAllBytes()));
          }
        }
      }
    }
  }
}
