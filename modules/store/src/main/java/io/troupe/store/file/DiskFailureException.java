package io.troupe.store.file;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * A file operation that the operating system refused, described so that an operator can act on it.
 */
public final class DiskFailureException extends IOException {
  private static final long serialVersionUID = 1L;

  private DiskFailureException(String message, IOException cause) {
    super(message, cause);
  }

  /**
   * Explains a refusal: what was being done, where, why, how much space is free, what to do next. A
   * failure that is explained already comes back as it is.
   *
   * @param doing failed action, as a phrase that follows "cannot"
   * @param path the file or folder concerned
   */
  public static IOException explain(String doing, Path path, IOException cause) {
    if (cause instanceof DiskFailureException || cause instanceof JournalException) {
      return cause;
    }
    return new DiskFailureException(text(doing, path, cause, ", then resume the run"), cause);
  }

  /** Explains the refusal of something that a run does without. */
  static String withoutResume(String doing, Path path, IOException cause) {
    return text(doing, path, cause, "");
  }

  private static String text(String doing, Path path, IOException cause, String then) {
    return "cannot %s: %s: %s; %s"
        .formatted(doing, path.toAbsolutePath(), reason(cause), advice(path, cause, then));
  }

  private static String reason(IOException cause) {
    String message = cause.getMessage();
    if (cause instanceof AccessDeniedException) {
      return "permission denied for user " + System.getProperty("user.name");
    }
    return message == null ? cause.getClass().getSimpleName() : message;
  }

  /** Returns the next step; {@code then} follows where the action can succeed afterwards. */
  private static String advice(Path path, IOException cause, String then) {
    String message = String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
    if (message.contains("no space left") || message.contains("quota")) {
      return "%s; free some space there%s".formatted(freeSpace(path), then);
    }
    if (message.contains("file too large")) {
      return "raise the limit on file sizes (ulimit -f)" + then;
    }
    if (message.contains("too many open files")) {
      return "raise the limit on open files (ulimit -n)" + then;
    }
    if (message.contains("read-only")) {
      return "the file system is mounted read-only; choose a run folder elsewhere";
    }
    if (cause instanceof AccessDeniedException) {
      return "give this user write access to it, or choose a run folder elsewhere";
    }
    return "check the disk and the path (%s)".formatted(freeSpace(path));
  }

  /** Free space at the nearest folder that exists, as text with exact bytes. */
  static String freeSpace(Path path) {
    Path folder = path.toAbsolutePath();
    while (!Files.isDirectory(folder)) {
      Path parent = folder.getParent();
      if (parent == null) {
        return "free space unknown";
      }
      folder = parent;
    }
    try {
      return "%d bytes free at %s".formatted(Files.getFileStore(folder).getUsableSpace(), folder);
    } catch (IOException unknown) {
      return "free space unknown at " + folder;
    }
  }
}
