package io.troupe.engine.http.replica;

import static io.troupe.core.Require.require;

import io.troupe.base.files.FileTree;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.PeftFolder;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A folder with the newest weights, one directory for each version, that servers of this host read.
 * A directory appears whole, by renaming. Its name is the tag of its weights, so a name never means
 * other weights. The folder keeps the newest versions, and those that a server reads.
 *
 * <p>Weights in files of this host are not copied: the files get hard links in a folder beside
 * them. Their owner may delete them while a server reads.
 */
public final class ServerWeightFolder {
  private final Contents contents;
  private final Path folder;
  private final CompanionFiles companions;
  private final WeightFileFinder hostFiles;
  private final Set<Path> cleared = new HashSet<>();
  private final Deque<Path> written = new ArrayDeque<>();
  private final Map<Path, Integer> readers = new HashMap<>();

  /** Files that a server needs beside the tensors, such as config.json. */
  @FunctionalInterface
  public interface CompanionFiles {
    /** Writes the files into a directory. */
    void write(Path directory) throws IOException;
  }

  /** Finds the weights that this host has in files. */
  @FunctionalInterface
  public interface WeightFileFinder {
    /** The directory with a version's tensors; empty if this host has no such files. */
    Optional<Path> directory(WeightVersion version, String digest);

    /** A host with weights in memory only. */
    static WeightFileFinder none() {
      return (_, _) -> Optional.empty();
    }
  }

  /**
   * The content of the folder.
   *
   * @param publishing the form of each version
   * @param versions number of the newest versions that stay, because a server may read one again
   * @param tensors whether the folder holds tensors; not where servers get them by NCCL
   * @param type of the numbers of merged weights
   */
  public record Contents(
      PublishedWeightForm publishing, int versions, boolean tensors, DType type) {
    /** Versions with their tensors in float32. */
    public Contents(PublishedWeightForm publishing, int versions) {
      this(publishing, versions, true, DType.F32);
    }

    public Contents {
      require(versions >= 2, "a folder of weights keeps two versions or more, not %d", versions);
    }

    /** Returns the content for merged weights: the version in use, and the next one. */
    public static Contents merged(DType type) {
      return new Contents(PublishedWeightForm.MERGED, 2, true, type);
    }

    /** Merged weights that go to servers by NCCL: the names of versions alone. */
    public static Contents broadcast() {
      return new Contents(PublishedWeightForm.MERGED, 2, false, DType.F32);
    }
  }

  /** Opens an empty folder of merged weights; removes what another process left there. */
  public static ServerWeightFolder open(
      Path folder, CompanionFiles companions, WeightFileFinder hostFiles) throws IOException {
    return open(Contents.merged(DType.F32), folder, companions, hostFiles);
  }

  /** Opens an empty folder; removes what another process left there. */
  public static ServerWeightFolder open(
      Contents contents, Path folder, CompanionFiles companions, WeightFileFinder hostFiles)
      throws IOException {
    ServerWeightFolder opened =
        new ServerWeightFolder(contents, folder.toAbsolutePath(), companions, hostFiles);
    opened.clear(opened.folder);
    return opened;
  }

  private ServerWeightFolder(
      Contents contents, Path folder, CompanionFiles companions, WeightFileFinder hostFiles) {
    this.contents = contents;
    this.folder = folder;
    this.companions = companions;
    this.hostFiles = hostFiles;
  }

  /** The form of each version. */
  public PublishedWeightForm publishing() {
    return contents.publishing();
  }

  private void clear(Path place) throws IOException {
    if (cleared.add(place)) {
      Files.createDirectories(place);
      try (Stream<Path> left = Files.list(place)) {
        for (Path directory : left.toList()) {
          FileTree.delete(directory);
        }
      }
    }
  }

  /** Writes weights; returns their directory. */
  public synchronized Path put(WeightSnapshot snapshot) throws IOException {
    String name = WeightTag.of(snapshot.version(), snapshot.digest()).toString();
    Optional<Path> files =
        switch (contents.publishing()) {
          case MERGED -> hostFiles.directory(snapshot.version(), snapshot.digest());
          case ADAPTERS -> Optional.empty();
        };
    Path place = files.map(this::linkFolder).orElse(folder);
    Path directory = place.resolve(name);
    if (Files.isDirectory(directory)) {
      return directory;
    }
    clear(place);
    Path partial = place.resolve(name + ".partial");
    try {
      Files.createDirectory(partial);
    } catch (FileAlreadyExistsException leftover) {
      FileTree.delete(partial);
      Files.createDirectory(partial);
    }
    switch (contents.publishing()) {
      case MERGED -> {
        if (contents.tensors() && (files.isEmpty() || !link(files.get(), partial))) {
          ModelFiles.write(partial, snapshot, contents.type());
        }
        companions.write(partial);
      }
      case ADAPTERS -> writeAdapter(snapshot, partial);
    }
    Files.move(partial, directory, StandardCopyOption.ATOMIC_MOVE);
    written.addLast(directory);
    prune();
    return directory;
  }

  private static void writeAdapter(WeightSnapshot snapshot, Path partial) throws IOException {
    if (snapshot.adapter().isNone()) {
      throw new IOException(
          "the weights %s have no adapters by themselves; set rollout.publish: merged"
              .formatted(snapshot.version()));
    }
    PeftFolder.write(partial, snapshot.adapter());
  }

  /** Keeps a directory until it is released as often as a reader has held the directory. */
  public synchronized void hold(Path directory) {
    readers.merge(directory, 1, Integer::sum);
  }

  public synchronized void release(Path directory) throws IOException {
    readers.computeIfPresent(directory, (_, times) -> times == 1 ? null : times - 1);
    prune();
  }

  private void prune() throws IOException {
    int surplus = Math.max(0, written.size() - contents.versions());
    List<Path> old = written.stream().limit(surplus).toList();
    for (Path directory : old) {
      if (!readers.containsKey(directory)) {
        FileTree.delete(directory);
        written.remove(directory);
      }
    }
  }

  /** A folder on the same file system; its name is unique to this folder of the host. */
  private Path linkFolder(Path files) {
    return files.resolveSibling("servers-" + Integer.toHexString(folder.toString().hashCode()));
  }

  /** Links the files; false if they were deleted meanwhile, and must be written from memory. */
  private static boolean link(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.filter(ServerWeightFolder::holdsTensors).toList()) {
        Files.createLink(to.resolve(file.getFileName()), file);
      }
      return true;
    } catch (NoSuchFileException evicted) {
      FileTree.delete(to);
      Files.createDirectory(to);
      return false;
    }
  }

  private static boolean holdsTensors(Path file) {
    String name = file.toString();
    return name.endsWith(".safetensors") || name.endsWith(".safetensors.index.json");
  }
}
