package io.troupe.store.checkpoint;

import static io.troupe.core.Require.require;

import io.troupe.base.files.DurableFiles;
import io.troupe.base.files.FileIdentity;
import io.troupe.base.files.FileTree;
import io.troupe.store.file.DiskFailureException;
import io.troupe.store.file.WriterFence;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The checkpoints of a run: directories {@code step<N>}, each whole or absent.
 *
 * <p>A checkpoint is written into a hidden directory, fsynced, listed in a manifest, and then
 * renamed to its name; a crash at any moment leaves either no {@code step<N>} or a whole one. What
 * a crash leaves behind is hidden, and {@link #open} removes it. A directory that was damaged later
 * is found by its manifest, reported and left alone. Newest means the greatest step: clocks are not
 * asked.
 */
public final class Checkpoints {
  /** Fills a directory that exists and is empty. */
  @FunctionalInterface
  public interface Writer {
    void write(Path directory) throws IOException;
  }

  private static final Pattern NAME = Pattern.compile("step([0-9]{1,18})");
  private static final Pattern LEFTOVER =
      Pattern.compile("\\.(step[0-9]{1,18})\\.(tmp|old|del)-[0-9a-f]{8}");
  private static final String KEEP = "keep";

  private final Path folder;
  private final Clock clock;
  private final WriterFence fence;

  private Checkpoints(Path folder, Clock clock, WriterFence fence) {
    this.folder = folder;
    this.clock = clock;
    this.fence = fence;
  }

  /**
   * For the run's own process, which holds the journal's lock: removes what a crash left behind.
   *
   * @param folder a run's {@code checkpoints/}; made if absent
   */
  public static Checkpoints open(Path folder) throws IOException {
    return open(folder, WriterFence.NONE);
  }

  /**
   * Opens the checkpoints for a process from which another one may take the run over: checkpoints
   * that the other process has written are neither replaced nor deleted.
   *
   * @param fence is asked before each change
   */
  public static Checkpoints open(Path folder, WriterFence fence) throws IOException {
    return open(folder, Clock.systemUTC(), fence);
  }

  static Checkpoints open(Path folder, Clock clock) throws IOException {
    return open(folder, clock, WriterFence.NONE);
  }

  private static Checkpoints open(Path folder, Clock clock, WriterFence fence) throws IOException {
    try {
      Files.createDirectories(folder);
      Checkpoints checkpoints = new Checkpoints(folder, clock, fence);
      checkpoints.removeLeftovers();
      return checkpoints;
    } catch (IOException failure) {
      throw DiskFailureException.explain("open the checkpoints", folder, failure);
    }
  }

  /** For other processes, while the run continues: changes nothing. */
  public static Checkpoints view(Path folder) {
    return new Checkpoints(folder, Clock.systemUTC(), WriterFence.NONE);
  }

  /**
   * Writes a checkpoint; durable when it returns. An earlier one of the same step is replaced, and
   * stays until the new one is whole.
   *
   * @param step 0 or greater
   * @throws DiskFailureException if a file cannot be written; all other checkpoints are as they
   *     were
   */
  public Checkpoint save(long step, Writer writer) throws IOException {
    require(step >= 0, "a checkpoint's step is 0 or greater, not %d", step);
    Path target = directory(step);
    Path temporary = hidden(target, "tmp");
    try {
      Files.createDirectory(temporary);
      writer.write(temporary);
      CheckpointManifest manifest = CheckpointManifest.seal(step, temporary, clock.instant());
      require(!manifest.files().isEmpty(), "checkpoint step%d was written without a file", step);
      DurableFiles.write(temporary.resolve(CheckpointManifest.NAME), manifest.json());
      if (isKept(target)) {
        DurableFiles.write(temporary.resolve(KEEP), new byte[0]);
      }
      DurableFiles.syncFolder(temporary);
      publish(temporary, target);
      return new Checkpoint(step, target, manifest);
    } catch (IOException failure) {
      IOException explained =
          DiskFailureException.explain(
              "write checkpoint step%d (%d bytes so far)".formatted(step, bytesOf(temporary)),
              target,
              failure);
      discard(temporary, explained);
      throw explained;
    } catch (RuntimeException | Error failure) {
      discard(temporary, failure);
      throw failure;
    }
  }

  /** Returns all checkpoints, checked by name and size of every file. */
  public CheckpointListing list() throws IOException {
    List<Checkpoint> whole = new ArrayList<>();
    List<CheckpointListing.Broken> broken = new ArrayList<>();
    for (long step : steps()) {
      check(step, whole, broken);
    }
    return new CheckpointListing(whole, broken);
  }

  /**
   * Adds a checkpoint to those that can be used or to the others. One that the run's process
   * replaces meanwhile is checked again, and one that the process deletes is neither.
   */
  private void check(long step, List<Checkpoint> whole, List<CheckpointListing.Broken> broken)
      throws IOException {
    Path directory = directory(step);
    Optional<Object> checked = FileIdentity.of(directory);
    String fault;
    try {
      CheckpointManifest manifest = CheckpointManifest.read(directory);
      Optional<String> wrong =
          manifest.step() == step
              ? manifest.wrongSize(directory)
              : Optional.of("its manifest is of step %d".formatted(manifest.step()));
      if (wrong.isEmpty()) {
        whole.add(new Checkpoint(step, directory, manifest));
        return;
      }
      fault = wrong.get();
    } catch (IOException unreadable) {
      fault = "%s cannot be read: %s".formatted(CheckpointManifest.NAME, line(unreadable));
    }
    Optional<Object> present = FileIdentity.of(directory);
    if (!present.equals(checked)) {
      check(step, whole, broken);
    } else if (present.isPresent()) {
      broken.add(new CheckpointListing.Broken(step, directory, fault));
    }
  }

  /** Says what is wrong with a checkpoint, beyond its files; nothing when it can be used. */
  @FunctionalInterface
  public interface CheckpointCheck {
    Optional<String> objection(Checkpoint checkpoint) throws IOException;
  }

  /** {@link #verify(Check)} by the files alone. */
  public CheckpointListing verify() throws IOException {
    return verify(_ -> Optional.empty());
  }

  /**
   * Returns {@link #list}, where the newest whole checkpoint, the one to resume from, is also
   * checked by the content of every file, and by a check of the caller's. Those that fail are among
   * the broken.
   */
  public CheckpointListing verify(CheckpointCheck check) throws IOException {
    CheckpointListing listing = list();
    List<Checkpoint> whole = new ArrayList<>(listing.whole());
    List<CheckpointListing.Broken> broken = new ArrayList<>(listing.broken());
    while (!whole.isEmpty()) {
      Checkpoint newest = whole.getFirst();
      Optional<String> wrong = newest.manifest().wrongContent(newest.directory());
      if (wrong.isEmpty()) {
        wrong = check.objection(newest);
      }
      if (wrong.isEmpty()) {
        break;
      }
      broken.add(new CheckpointListing.Broken(newest.step(), newest.directory(), wrong.get()));
      whole.removeFirst();
    }
    broken.sort(Comparator.comparingLong(CheckpointListing.Broken::step).reversed());
    return new CheckpointListing(whole, broken);
  }

  /** Marks a checkpoint as one that {@link #keepLast} never deletes. */
  public void keep(long step) throws IOException {
    Path directory = directory(step);
    require(Files.isDirectory(directory), "there is no checkpoint step%d in %s", step, folder);
    if (!isKept(directory)) {
      DurableFiles.write(directory.resolve(KEEP), new byte[0]);
      DurableFiles.syncFolder(directory);
    }
  }

  /**
   * Deletes all whole checkpoints but the newest {@code count} and those marked to be kept. Broken
   * ones neither count nor go.
   *
   * @param count 1 or greater
   * @return the steps deleted, newest first
   */
  public List<Long> keepLast(int count) throws IOException {
    require(count >= 1, "at least 1 checkpoint is kept, not %d", count);
    fence.check();
    List<Long> deleted = new ArrayList<>();
    for (Checkpoint old : list().whole().stream().skip(count).toList()) {
      if (!isKept(old.directory())) {
        Path hidden = hidden(old.directory(), "del");
        DurableFiles.rename(old.directory(), hidden);
        FileTree.delete(hidden);
        deleted.add(old.step());
      }
    }
    return deleted;
  }

  private void publish(Path temporary, Path target) throws IOException {
    fence.check();
    if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      Path old = hidden(target, "old");
      Files.move(target, old, StandardCopyOption.ATOMIC_MOVE);
      try {
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException failure) {
        Files.move(old, target, StandardCopyOption.ATOMIC_MOVE);
        throw failure;
      }
      DurableFiles.syncFolder(folder);
      FileTree.delete(old);
    } else {
      DurableFiles.rename(temporary, target);
    }
  }

  private void removeLeftovers() throws IOException {
    for (Path path : entries()) {
      Matcher leftover = LEFTOVER.matcher(path.getFileName().toString());
      if (leftover.matches()) {
        Path target = folder.resolve(leftover.group(1));
        if (leftover.group(2).equals("old") && !Files.exists(target)) {
          // Died between the two renames of a replacement: the old one is still the one there is.
          Files.move(path, target, StandardCopyOption.ATOMIC_MOVE);
        } else {
          FileTree.delete(path);
        }
      }
    }
  }

  private List<Long> steps() throws IOException {
    List<Long> steps = new ArrayList<>();
    for (Path path : entries()) {
      Matcher name = NAME.matcher(path.getFileName().toString());
      // A name such as step007 names no step: every step has one name.
      if (name.matches() && path.equals(directory(Long.parseLong(name.group(1))))) {
        steps.add(Long.parseLong(name.group(1)));
      }
    }
    steps.sort(Comparator.reverseOrder());
    return steps;
  }

  private List<Path> entries() throws IOException {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(folder)) {
      paths.forEach(entries::add);
    }
    return entries;
  }

  private Path directory(long step) {
    return folder.resolve("step" + step);
  }

  private static boolean isKept(Path directory) {
    return Files.exists(directory.resolve(KEEP));
  }

  private Path hidden(Path target, String purpose) {
    return folder.resolve(
        ".%s.%s-%s"
            .formatted(
                target.getFileName(),
                purpose,
                HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt())));
  }

  private static void discard(Path temporary, Throwable failure) {
    try {
      FileTree.delete(temporary);
    } catch (IOException undeleted) {
      failure.addSuppressed(undeleted);
    }
  }

  private static long bytesOf(Path directory) {
    try {
      return FileTree.files(directory).stream().mapToLong(file -> file.toFile().length()).sum();
    } catch (IOException unreadable) {
      return 0;
    }
  }

  private static String line(IOException failure) {
    return String.valueOf(failure.getMessage()).lines().findFirst().orElse("no reason given");
  }
}
