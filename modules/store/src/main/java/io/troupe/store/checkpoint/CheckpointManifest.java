package io.troupe.store.checkpoint;

import static io.troupe.core.Require.require;

import io.troupe.base.files.DurableFiles;
import io.troupe.base.hash.Sha256;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The content of a checkpoint as it was when it was whole: {@code manifest.json}.
 *
 * @param format 2
 * @param step after which it was made
 * @param created UTC, ISO 8601; for people, never compared
 * @param files all of them except the manifest, in path order
 */
public record CheckpointManifest(int format, long step, String created, List<Entry> files) {
  static final String NAME = "manifest.json";
  private static final int FORMAT = 2;

  /**
   * One file.
   *
   * @param path within the checkpoint, with '/'
   * @param bytes size
   * @param sha256 of the content, in hex
   */
  public record Entry(String path, long bytes, String sha256) {}

  public CheckpointManifest {
    require(
        format == FORMAT,
        "checkpoint format %d, and this version reads %d; use the version of Troupe that wrote it,"
            + " which run.json names, or begin a new run from its folder policy",
        format,
        FORMAT);
    require(step >= 0, "a checkpoint's step is 0 or greater, not %d", step);
    files = List.copyOf(files);
  }

  /** The sum of the files' sizes. */
  public long bytes() {
    return files.stream().mapToLong(Entry::bytes).sum();
  }

  /** Takes stock of a directory and fsyncs every file and folder of it. */
  static CheckpointManifest seal(long step, Path directory, Instant created) throws IOException {
    List<Entry> entries = new ArrayList<>();
    for (Path path : tree(directory)) {
      if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
        DurableFiles.syncFolder(path);
      } else if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
        DurableFiles.syncFile(path);
        entries.add(
            new Entry(
                directory.relativize(path).toString().replace('\\', '/'),
                Files.size(path),
                Sha256.hex(path)));
      } else {
        throw new IOException(
            "a checkpoint holds plain files and folders only, and %s is neither".formatted(path));
      }
    }
    return new CheckpointManifest(FORMAT, step, created.toString(), entries);
  }

  public static CheckpointManifest read(Path directory) throws IOException {
    return StoreJson.LINE.readValue(
        Files.readAllBytes(directory.resolve(NAME)), CheckpointManifest.class);
  }

  byte[] json() throws IOException {
    return StoreJson.PRETTY.writeValueAsBytes(this);
  }

  /** Returns the first fault of the files by name and size. */
  Optional<String> wrongSize(Path directory) throws IOException {
    for (Entry entry : files) {
      Path file = directory.resolve(entry.path());
      if (!Files.isRegularFile(file)) {
        return Optional.of("%s is missing".formatted(entry.path()));
      }
      if (Files.size(file) != entry.bytes()) {
        return Optional.of(
            "%s has %d bytes instead of %d"
                .formatted(entry.path(), Files.size(file), entry.bytes()));
      }
    }
    return Optional.empty();
  }

  /** Returns the first fault of the files' content; reads all of it. */
  Optional<String> wrongContent(Path directory) throws IOException {
    for (Entry entry : files) {
      String found = Sha256.hex(directory.resolve(entry.path()));
      if (!found.equals(entry.sha256())) {
        return Optional.of(
            "%s has sha-256 %s instead of %s".formatted(entry.path(), found, entry.sha256()));
      }
    }
    return Optional.empty();
  }

  private static List<Path> tree(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.filter(path -> !path.equals(directory)).sorted().toList();
    }
  }
}
