package io.troupe.base.files;

import com.sun.security.auth.module.UnixSystem;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Folders and files that only this process's user can read. They are created with their mode, so
 * that other users cannot read them at any moment.
 *
 * <p>A system without POSIX permissions (Windows) gives them the access list of their folder, and
 * nothing is checked: the access list of a user's home already excludes other users.
 */
public final class PrivateFiles {
  private static final Set<PosixFilePermission> OWNER_FILE =
      PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> OWNER_FOLDER =
      PosixFilePermissions.fromString("rwx------");
  private static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

  private PrivateFiles() {}

  private static FileAttribute<?>[] with(Set<PosixFilePermission> mode) {
    return POSIX
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(mode)}
        : new FileAttribute<?>[0];
  }

  /** Creates a folder and its missing parents; an existing folder stays as it is. */
  public static Path folders(Path folder) throws IOException {
    return Files.createDirectories(folder, with(OWNER_FOLDER));
  }

  /** Creates a folder that must not exist. */
  public static Path newFolder(Path folder) throws IOException {
    return Files.createDirectory(folder, with(OWNER_FOLDER));
  }

  /**
   * Creates a folder, or accepts an existing private folder.
   *
   * @throws IOException if something else has the name: see {@link #objection}
   */
  public static Path ownFolder(Path folder) throws IOException {
    Path parent = folder.toAbsolutePath().getParent();
    if (parent != null && !Files.isDirectory(parent)) {
      folders(parent);
    }
    try {
      return newFolder(folder);
    } catch (FileAlreadyExistsException there) {
      Optional<String> objection = objection(folder);
      if (objection.isPresent()) {
        throw new IOException(objection.get(), there);
      }
      return folder;
    }
  }

  /** Replaces a file, as {@link AtomicFile} does. */
  public static void write(Path file, byte[] content) throws IOException {
    AtomicFile.replace(file, content, with(OWNER_FILE));
  }

  /**
   * Returns why a folder is not private to this process's user, if it is not. Links are not
   * followed.
   */
  public static Optional<String> objection(Path folder) throws IOException {
    if (!POSIX) {
      return Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
          ? Optional.empty()
          : Optional.of(folder + " is no folder; remove it, or name another one");
    }
    PosixFileAttributes found =
        Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!found.isDirectory()) {
      return Optional.of(
          "%s is %s and no folder; remove it, or name another one"
              .formatted(folder, found.isSymbolicLink() ? "a link" : "a file"));
    }
    if (!owned(folder)) {
      return Optional.of(
          "%s belongs to %s and not to this process's user, so that its owner could read and replace what is put there; remove it, or name another one"
              .formatted(folder, found.owner().getName()));
    }
    Set<PosixFilePermission> others = EnumSet.copyOf(found.permissions());
    others.removeAll(OWNER_FOLDER);
    return others.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "%s is open to other users (%s); look at what is in it, then chmod 700 it or remove it"
                .formatted(folder, PosixFilePermissions.toString(found.permissions())));
  }

  /** Whether a file, folder or link belongs to this process's user. */
  public static boolean owned(Path path) throws IOException {
    return !POSIX
        || ((Number) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS)).longValue()
            == new UnixSystem().getUid();
  }

  /** Returns why other users can read a file, if they can. */
  public static Optional<String> openness(Path file) throws IOException {
    if (!POSIX) {
      return Optional.empty();
    }
    Set<PosixFilePermission> mode = Files.getPosixFilePermissions(file);
    return OWNER_FILE.containsAll(mode)
        ? Optional.empty()
        : Optional.of(
            "%s can be read by others (%s)".formatted(file, PosixFilePermissions.toString(mode)));
  }

  /** Makes a file that another program has written private. */
  public static void close(Path file) throws IOException {
    if (POSIX) {
      Files.setPosixFilePermissions(file, OWNER_FILE);
    }
  }
}
