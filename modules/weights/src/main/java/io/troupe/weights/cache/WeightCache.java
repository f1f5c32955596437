package io.troupe.weights.cache;

import io.troupe.base.files.FileTree;
import io.troupe.base.files.PrivateFiles;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The weights of one host: directories, of which each is whole or does not exist.
 *
 * <p>A version comes together in a directory of another name and is renamed when its last chunk is
 * checked and its manifest written; the rename is the publication. The process that opens a cache
 * owns it by a lock, which the system releases when the process dies. What a dead owner left half
 * done is deleted by the next; whole versions are kept. Readers need no lock: they get a directory,
 * and what they mapped outlives its deletion.
 */
public final class WeightCache implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WeightCache.class);
  private static final String INCOMING = "incoming-";
  private static final String SPARE = INCOMING + "spare";
  private static final String OWNED =
      "another process owns this weight cache; end it, or give this node another name";

  private final WeightCacheSettings settings;
  private final FolderOwnership ownership;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  /** Whole versions, the oldest first, as they were sealed. */
  private final List<CachedVersion> versions = new ArrayList<>();

  private final Map<String, IncomingVersion> arriving = new HashMap<>();
  private final CacheHousekeeping housekeeping;

  private WeightCache(WeightCacheSettings settings, FolderOwnership ownership) {
    this.settings = settings;
    this.ownership = ownership;
    this.housekeeping = new CacheHousekeeping(settings.reserveBytes());
  }

  /**
   * Opens a cache and finds what is whole in it.
   *
   * @throws IOException if a directory cannot be written, is not private to this user, or is
   *     another process's
   */
  public static WeightCache open(WeightCacheSettings settings) throws IOException {
    for (Path root : settings.roots()) {
      PrivateFiles.ownFolder(root); // Who could write here could replace what workers map.
    }
    WeightCache cache =
        new WeightCache(settings, FolderOwnership.take(settings.roots().getFirst(), OWNED));
    cache.findVersions();
    return cache;
  }

  private void findVersions() throws IOException {
    List<CachedVersion> whole = new ArrayList<>();
    for (Path root : settings.roots()) {
      try (Stream<Path> listing = Files.list(root)) {
        for (Path entry : listing.filter(Files::isDirectory).toList()) {
          Optional<CachedVersion> version =
              name(entry).startsWith(INCOMING) ? Optional.empty() : whole(entry);
          version.ifPresent(whole::add);
          if (version.isEmpty()) {
            FileTree.delete(entry);
          }
        }
      }
    }
    whole.sort(
        Comparator.comparingLong((CachedVersion version) -> sealedAt(version.directory()))
            .thenComparing(version -> name(version.directory())));
    versions.addAll(whole);
    evictTo(settings.versions());
  }

  /** The version in a folder; empty if its manifest is missing, damaged or of another format. */
  private static Optional<CachedVersion> whole(Path directory) throws IOException {
    Path file = directory.resolve(VersionManifest.NAME);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    byte[] json = Files.readAllBytes(file);
    try {
      VersionManifest manifest = VersionManifest.of(json);
      return Optional.of(new CachedVersion(manifest.ref(json), directory, manifest));
    } catch (IOException unreadable) {
      LOG.warn(
          "event=cached_weights_unreadable file={} reason=\"{}\" then=\"deleted, and fetched again\"",
          file,
          unreadable.getMessage());
      return Optional.empty();
    }
  }

  private static String name(Path entry) {
    return entry.toFile().getName();
  }

  private static long sealedAt(Path directory) {
    return directory.resolve(VersionManifest.NAME).toFile().lastModified();
  }

  /** The whole versions, the oldest first. */
  public List<CachedVersion> versions() {
    lock.lock();
    try {
      return List.copyOf(versions);
    } finally {
      lock.unlock();
    }
  }

  /** A whole version. */
  public Optional<CachedVersion> find(WeightRef ref) {
    return versions().stream().filter(version -> version.ref().equals(ref)).findFirst();
  }

  /**
   * Publishes weights of a process: writes them as a Hugging Face model.
   *
   * @param beside files that go with them, such as config.json and tokenizer.json
   * @param type of the numbers in the files
   */
  public CachedVersion publish(WeightSnapshot weights, List<Path> beside, DType type)
      throws IOException {
    long bytes =
        weights.tensors().stream().mapToLong(t -> t.bytes() / Float.BYTES * type.bytes()).sum();
    for (Path file : beside) {
      bytes += Files.size(file);
    }
    Path directory = rootWithSpace(INCOMING + "own-" + weights.version().number(), bytes);
    ModelFiles.write(directory, weights, type);
    for (Path file : beside) {
      Files.copy(file, directory.resolve(name(file)));
    }
    return adopt(directory, weights.version(), weights.digest());
  }

  /**
   * Publishes a directory, such as a checkpoint's model: its files are linked where the file system
   * allows it, copied elsewhere. They must not change afterwards.
   *
   * @param digest of the tensors, see {@link WeightSnapshot}
   */
  public CachedVersion publish(WeightVersion version, String digest, Path model)
      throws IOException {
    List<Path> files;
    try (Stream<Path> listing = Files.list(model)) {
      files = listing.filter(Files::isRegularFile).sorted().toList();
    }
    long bytes = 0;
    for (Path file : files) {
      bytes += Files.size(file);
    }
    Path directory = rootWithSpace(INCOMING + "own-" + version.number(), bytes);
    for (Path file : files) {
      if (name(file).equals(VersionManifest.NAME)) {
        continue;
      }
      try {
        Files.createLink(directory.resolve(name(file)), file);
      } catch (FileSystemException | UnsupportedOperationException otherFileSystem) {
        Files.copy(file, directory.resolve(name(file)));
      }
    }
    return adopt(directory, version, digest);
  }

  private CachedVersion adopt(Path directory, WeightVersion version, String digest)
      throws IOException {
    VersionManifest manifest =
        ManifestBuilder.of(directory, version, digest, settings.chunkBytes());
    byte[] json = manifest.json();
    WeightRef ref = manifest.ref(json);
    Optional<CachedVersion> known = find(ref);
    if (known.isPresent()) {
      FileTree.delete(directory);
      return known.get();
    }
    Files.write(directory.resolve(VersionManifest.NAME), json);
    Path target = directory.resolveSibling(ref.folder());
    Files.move(directory, target);
    return add(new CachedVersion(ref, target, manifest));
  }

  /**
   * Makes room for a version that is to come; its chunks can be sent on while it comes.
   *
   * @throws IOException if no root has room; the message names each and what it lacks
   */
  public IncomingVersion begin(VersionManifest manifest, byte[] json) throws IOException {
    WeightRef ref = manifest.ref(json);
    String name = INCOMING + ref.shortDigest();
    Optional<Path> spare = housekeeping.spareFor(manifest, name);
    Path directory = spare.isPresent() ? spare.get() : rootWithSpace(name, ref.bytes());
    IncomingVersion incoming = new IncomingVersion(manifest, json, directory);
    lock.lock();
    try {
      arriving.put(ref.digest(), incoming);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    return incoming;
  }

  /** Ends a transfer that brought everything. */
  public CachedVersion seal(WeightRef ref, IncomingVersion incoming) throws IOException {
    incoming.seal(incoming.directory().resolveSibling(ref.folder()));
    CachedVersion version = new CachedVersion(ref, incoming.directory(), incoming.manifest());
    add(version);
    forget(ref);
    housekeeping.prepare(version, version.directory().resolveSibling(SPARE));
    return version;
  }

  /** Ends a transfer that failed, and frees its room. */
  public void abandon(WeightRef ref, IncomingVersion incoming) throws IOException {
    forget(ref);
    incoming.close();
    FileTree.delete(incoming.directory());
  }

  private void forget(WeightRef ref) {
    lock.lock();
    try {
      arriving.remove(ref.digest());
    } finally {
      lock.unlock();
    }
  }

  private CachedVersion add(CachedVersion version) throws IOException {
    lock.lock();
    try {
      versions.add(version);
      changed.signalAll();
      while (versions.size() > settings.versions()) {
        Path old = versions.removeFirst().directory();
        Path out = old.resolveSibling(INCOMING + "evicted-" + name(old));
        Files.move(
            old, out); // At once, so that no reader finds it; a deletion takes a second for 8 GB.
        housekeeping.delete(out);
      }
    } finally {
      lock.unlock();
    }
    return version;
  }

  private void evictTo(int most) throws IOException {
    lock.lock();
    try {
      while (versions.size() > most) {
        FileTree.delete(versions.removeFirst().directory());
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * An empty directory with room for this many bytes. Older versions are deleted before the request
   * is refused.
   */
  private Path rootWithSpace(String name, long bytes) throws IOException {
    housekeeping.freeRoom();
    List<String> full = new ArrayList<>();
    for (int keep = settings.versions(); keep > 0; keep--) {
      evictTo(keep);
      full.clear();
      for (Path root : settings.roots()) {
        long free = FreeSpace.of(root);
        if (free - settings.reserveBytes() >= bytes) {
          return createEmpty(root.resolve(name));
        }
        full.add("%s has %d bytes free".formatted(root, free));
      }
    }
    throw new IOException(
        "no room for weights of %d bytes and a reserve of %d: %s; free some, or give the node another data directory"
            .formatted(bytes, settings.reserveBytes(), String.join(", ", full)));
  }

  private static Path createEmpty(Path directory) throws IOException {
    try {
      return Files.createDirectory(directory);
    } catch (FileAlreadyExistsException leftover) {
      FileTree.delete(directory);
      return Files.createDirectory(directory);
    }
  }

  /** Returns the chunks of a version that are here; waits for a transfer of it to begin. */
  public Optional<ChunkSource> source(String digest, Duration atMost)
      throws InterruptedException, IOException {
    long left = atMost.toNanos();
    lock.lockInterruptibly();
    try {
      while (true) {
        Optional<CachedVersion> whole =
            versions.stream().filter(v -> v.ref().digest().equals(digest)).findFirst();
        if (whole.isPresent()) {
          return Optional.of(new WholeSource(whole.get()));
        }
        Optional<IncomingVersion> coming = Optional.ofNullable(arriving.get(digest));
        if (coming.isPresent() || left <= 0) {
          return coming.map(incoming -> incoming);
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  private record WholeSource(CachedVersion version) implements ChunkSource {
    @Override
    public VersionManifest manifest() {
      return version.manifest();
    }

    @Override
    public byte[] manifestBytes() {
      try {
        return Files.readAllBytes(version.directory().resolve(VersionManifest.NAME));
      } catch (IOException evicted) {
        return new byte[0];
      }
    }

    @Override
    public Path directory() {
      return version.directory();
    }

    @Override
    public Availability await(int chunk, Duration atMost) {
      return Availability.PRESENT;
    }
  }

  /** Deletes the cache with all versions, at the end of a run. */
  public void delete() throws IOException {
    close();
    for (Path root : settings.roots()) {
      FileTree.delete(root);
    }
  }

  /** Releases the cache; whole versions stay for the next owner. */
  @Override
  public void close() throws IOException {
    housekeeping.close();
    ownership.close();
  }
}
