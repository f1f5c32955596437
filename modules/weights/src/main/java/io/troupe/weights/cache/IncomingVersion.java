package io.troupe.weights.cache;

import static io.troupe.core.Require.invariant;

import io.troupe.weights.cache.VersionManifest.FilePart;
import io.troupe.weights.cache.VersionManifest.Place;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A version on its way in. Threads of one transfer write chunks, each its own; any number of a
 * server's threads wait for them, and pass each on as soon as it is whole.
 */
public final class IncomingVersion implements ChunkSource, AutoCloseable {
  private final VersionManifest manifest;
  private final byte[] manifestBytes;
  private final List<Place> places;
  private final Map<String, FileChannel> files = new HashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final BitSet present = new BitSet();
  private Path directory;
  private boolean closed;

  /** Makes room for all files in a directory that is empty. */
  IncomingVersion(VersionManifest manifest, byte[] manifestBytes, Path directory)
      throws IOException {
    this.manifest = manifest;
    this.manifestBytes = manifestBytes;
    this.places = manifest.places();
    this.directory = directory;
  }

  /**
   * Takes what another version has too: unchanged files as links, unchanged chunks as copies.
   *
   * @return bytes taken
   */
  public long reuse(CachedVersion base) throws IOException {
    Map<String, Place> known = new HashMap<>();
    base.manifest().places().forEach(place -> known.put(place.chunk().sha256(), place));
    Map<String, FilePart> whole = new HashMap<>();
    base.manifest().files().forEach(file -> whole.put(file.sha256(), file));
    long taken = 0;
    for (FilePart file : manifest.files()) {
      FilePart same = whole.get(file.sha256());
      if (same != null && same.bytes() == file.bytes() && !Files.exists(file(file))) {
        Files.createLink(file(file), base.directory().resolve(same.name()));
        copyFile(file);
        taken += file.bytes();
      }
    }
    for (int i = 0; i < places.size(); i++) {
      Place same = known.get(places.get(i).chunk().sha256());
      if (same != null && !has(i)) {
        copy(base.directory().resolve(same.file().name()), same, i);
        taken += same.chunk().length();
      }
    }
    return taken;
  }

  private void copyFile(FilePart file) {
    for (int i = 0; i < places.size(); i++) {
      if (places.get(i).file().equals(file)) {
        copyChunk(i);
      }
    }
  }

  private void copy(Path from, Place place, int chunk) throws IOException {
    try (FileChannel source = FileChannel.open(from, StandardOpenOption.READ)) {
      FileChannel target = channel(places.get(chunk).file());
      long done = 0;
      target.position(places.get(chunk).chunk().offset());
      while (done < place.chunk().length()) {
        long moved =
            source.transferTo(place.chunk().offset() + done, place.chunk().length() - done, target);
        if (moved <= 0) {
          throw new IOException("%s ends before byte %d".formatted(from, place.chunk().offset()));
        }
        done += moved;
      }
    }
    copyChunk(chunk);
  }

  /** Writes a part of a chunk. */
  public void write(int chunk, int within, ByteBuffer bytes) throws IOException {
    Place place = places.get(chunk);
    FileChannel channel = channel(place.file());
    long at = place.chunk().offset() + within;
    while (bytes.hasRemaining()) {
      at += channel.write(bytes, at);
    }
  }

  /** Says that a chunk is whole. */
  public void copyChunk(int chunk) {
    lock.lock();
    try {
      present.set(chunk);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  boolean has(int chunk) {
    lock.lock();
    try {
      return present.get(chunk);
    } finally {
      lock.unlock();
    }
  }

  /** The first chunk from a number on that is missing; the number of chunks if none is. */
  public int missingFrom(int chunk) {
    lock.lock();
    try {
      return Math.min(present.nextClearBit(chunk), places.size());
    } finally {
      lock.unlock();
    }
  }

  public Place place(int chunk) {
    return places.get(chunk);
  }

  public int chunks() {
    return places.size();
  }

  private Path file(FilePart file) {
    return directory().resolve(file.name());
  }

  private FileChannel channel(FilePart file) throws IOException {
    lock.lock();
    try {
      FileChannel open = files.get(file.name());
      return open != null ? open : create(file);
    } finally {
      lock.unlock();
    }
  }

  private FileChannel create(FilePart file) throws IOException {
    try (RandomAccessFile sized = new RandomAccessFile(file(file).toFile(), "rw")) {
      sized.setLength(file.bytes());
    }
    FileChannel opened = FileChannel.open(file(file), StandardOpenOption.WRITE);
    files.put(file.name(), opened);
    return opened;
  }

  /** Writes the manifest and moves the directory to its place: from then on the version exists. */
  void seal(Path target) throws IOException {
    invariant(missingFrom(0) == places.size(), "chunks are missing");
    for (FilePart file : manifest.files()) {
      if (file.bytes() == 0) {
        channel(file);
      }
    }
    closeFiles();
    Files.write(directory().resolve(VersionManifest.NAME), manifestBytes);
    Files.move(directory(), target);
    lock.lock();
    try {
      directory = target;
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the transfer; those who wait for chunks learn it. */
  @Override
  public void close() throws IOException {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    closeFiles();
  }

  private void closeFiles() throws IOException {
    lock.lock();
    try {
      for (FileChannel channel : files.values()) {
        channel.close();
      }
      files.clear();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public VersionManifest manifest() {
    return manifest;
  }

  @Override
  public byte[] manifestBytes() {
    return manifestBytes.clone();
  }

  @Override
  public Path directory() {
    lock.lock();
    try {
      return directory;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Availability await(int chunk, Duration atMost) throws InterruptedException {
    long left = atMost.toNanos();
    lock.lockInterruptibly();
    try {
      while (!present.get(chunk) && !closed && left > 0) {
        left = changed.awaitNanos(left);
      }
      if (present.get(chunk)) {
        return Availability.PRESENT;
      }
      return closed ? Availability.GONE : Availability.NOT_YET;
    } finally {
      lock.unlock();
    }
  }
}
