package io.troupe.engine.djl.install;

import io.troupe.base.hash.Sha256;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/**
 * The C++ sources of DJL's binding, as DJL published them: each file is known by its SHA-256. The
 * archive around them is not, because hosts pack the archives of a release again.
 *
 * @param digests SHA-256 by the name of the file
 */
public record BindingSources(SortedMap<String, String> digests) {
  private static final String DIGESTS = "djl-native.sha256";
  private static final long MOST_BYTES = 1 << 20;

  /** The sources of the DJL that this process runs. */
  public static BindingSources published() {
    TreeMap<String, String> digests = new TreeMap<>();
    for (String line : lines()) {
      String[] words = line.split(" +", 2);
      digests.put(words[1], words[0]);
    }
    return new BindingSources(digests);
  }

  /** The archive of DJL's release, by version. */
  public static String address() {
    return "https://github.com/deepjavalibrary/djl/archive/refs/tags/v%s.tar.gz"
        .formatted(BindingCache.djlVersion());
  }

  /**
   * Unpacks the sources of an archive.
   *
   * @param archive gzipped tar; other files in it are passed over
   * @param into an empty folder
   * @return the files to compile
   * @throws UnusableTorchException if a source is missing, or is not the published one
   */
  List<Path> unpack(Path archive, Path into) throws IOException {
    TreeMap<String, String> wanted = new TreeMap<>(digests);
    Set<String> differing = new TreeSet<>();
    try (TarArchiveInputStream tar = open(archive)) {
      TarArchiveEntry entry;
      while ((entry = tar.getNextEntry()) != null) {
        String path = entry.getName();
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (entry.isFile() && entry.getSize() <= MOST_BYTES && digests.containsKey(name)) {
          byte[] content = tar.readAllBytes();
          if (Sha256.hex(content).equals(wanted.get(name))) {
            write(into, name, content);
            wanted.remove(name);
          } else if (wanted.containsKey(name)) {
            differing.add(name);
          }
        }
      }
    }
    differing.retainAll(wanted.keySet());
    if (!wanted.isEmpty()) {
      throw new UnusableTorchException(
          "%s: %s; the archive must be that of DJL %s: %s"
              .formatted(
                  archive,
                  differing.isEmpty()
                      ? "it lacks " + wanted.firstKey()
                      : differing.iterator().next() + " is not the published file",
                  BindingCache.djlVersion(),
                  address()));
    }
    return digests.keySet().stream()
        .filter(name -> name.endsWith(".cc"))
        .map(into::resolve)
        .toList();
  }

  private static TarArchiveInputStream open(Path archive) throws IOException {
    InputStream bytes = new BufferedInputStream(Files.newInputStream(archive));
    try {
      return new TarArchiveInputStream(new GZIPInputStream(bytes));
    } catch (IOException noArchive) {
      bytes.close();
      throw new UnusableTorchException(
          "%s: it is no archive of sources (.tar.gz); fetch %s".formatted(archive, address()),
          noArchive);
    }
  }

  /** Writes a header; one header is included by its folder's name. */
  private static void write(Path into, String name, byte[] content) throws IOException {
    Path file = name.equals("utils.h") ? into.resolve("djl").resolve(name) : into.resolve(name);
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    Files.write(file, content);
  }

  private static List<String> lines() {
    try (InputStream resource =
        Objects.requireNonNull(BindingSources.class.getResourceAsStream(DIGESTS))) {
      return new String(resource.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
