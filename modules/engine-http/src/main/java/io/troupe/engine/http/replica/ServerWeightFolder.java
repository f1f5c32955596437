package io.troupe.engine.http.replica;

import static io.troupe.core.Require.require;

import io.troupe.base.files.FileTree;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.PeftFolder;
import io.troupe.engine.safetensors.StoredTensor;
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
 * A folder with the newest weights, a directory each, for servers of this host to read. A directory
 * appears whole, by renaming, and its name is its tag: no name ever means other weights. The newest
 * are kept, and those that a server reads.
 *
 * <p>Weights that lie in files of this host already are not written again: their files get a second
 * name in a folder beside them, so that nothing is copied, and whoever keeps them may delete them
 * while a server reads.
 */
public final class ServerWeightFolder {
  private final Contents contents;
  private final Path folder;
  private final CompanionFiles companions;
  private final AdapterLocations lying;
  private final Set<Path> cleared = new HashSet<>();
  private final Deque<Path> shelved = new ArrayDeque<>();
  private final Map<Path, Integer> held = new HashMap<>();

  /** Files that a server wants beside the tensors, such as config.json. */
  @FunctionalInterface
  public interface CompanionFiles {
    /** Writes them into a directory. */
    void write(Path directory) throws IOException;
  }

  /** Weights that this host has in files. */
  @FunctionalInterface
  public interface AdapterLocations {
    /** The directory with a version's tensors; none where this host has no such files. */
    Optional<Path> directory(WeightVersion version, String digest);

    /** All weights are in memory alone. */
    static AdapterLocations none() {
      return (_, _) -> Optional.empty();
    }
  }

  /**
   * What a shelf holds.
   *
   * @param publishing of each version
   * @param versions the newest that stay, of which a server may read one again
   */
  public record Contents(PublishedWeightForm publishing, int versions) {
    public Contents {
      require(versions >= 2, "a shelf keeps two versions or more, not %d", versions);
    }

    /** Merged weights: those in use, and those that come after them. */
    public static Contents merged() {
      return new Contents(PublishedWeightForm.MERGED, 2);
    }
  }

  /** An empty shelf of merged weights; what another process left in the folder is removed. */
  public static ServerWeightFolder open(
      Path folder, CompanionFiles companions, AdapterLocations lying) throws IOException {
    return open(Contents.merged(), folder, companions, lying);
  }

  /** An empty shelf. */
  public static ServerWeightFolder open(
      Contents contents, Path folder, CompanionFiles companions, AdapterLocations lying)
      throws IOException {
    ServerWeightFolder shelf =
        new ServerWeightFolder(contents, folder.toAbsolutePath(), companions, lying);
    shelf.clear(shelf.folder);
    return shelf;
  }

  private ServerWeightFolder(
      Contents contents, Path folder, CompanionFiles companions, AdapterLocations lying) {
    this.contents = contents;
    this.folder = folder;
    this.companions = companions;
    this.lying = lying;
  }

  /** What it holds of each version. */
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
          case MERGED -> lying.directory(snapshot.version(), snapshot.digest());
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
        if (files.isEmpty() || !link(files.get(), partial)) {
          List<StoredTensor> tensors = snapshot.tensors().stream().map(StoredTensor::of).toList();
          ModelFiles.write(partial, tensors, ModelFiles.DEFAULT_SHARD_BYTES);
        }
        companions.write(partial);
      }
      case ADAPTERS -> writeAdapter(snapshot, partial);
    }
    Files.move(partial, directory, StandardCopyOption.ATOMIC_MOVE);
    shelved.addLast(directory);
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

  /** A directory stays until it is released as often as it was held, however old it is. */
  public synchronized void hold(Path directory) {
    held.merge(directory, 1, Integer::sum);
  }

  public synchronized void release(Path directory) throws IOException {
    held.computeIfPresent(directory, (_, times) -> times == 1 ? null : times - 1);
    prune();
  }

  private void prune() throws IOException {
    int surplus = Math.max(0, shelved.size() - contents.versions());
    List<Path> old = shelved.stream().limit(surplus).toList();
    for (Path directory : old) {
      if (!held.containsKey(directory)) {
        FileTree.delete(directory);
        shelved.remove(directory);
      }
    }
  }

  /** On the same file system, and named after this shelf, of which a host may have several. */
  private Path linkFolder(Path files) {
    return files.resolveSibling("servers-" + Integer.toHexString(folder.toString().hashCode()));
  }

  /** False if they were deleted meanwhile; what is in memory can still be written then. */
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
