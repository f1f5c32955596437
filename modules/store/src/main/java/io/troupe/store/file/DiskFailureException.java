package io.troupe.store.file;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A file operation that the operating system refused, described so that an operator can act on it.
 */
public final class DiskFailureException extends IOException {
  private static final long serialVersionUID = 1L;

  private static final List<String> FULL = List.of("no space left", "quota");
  private static final Map<String, String> LIMITS =
      Map.of(
          "file too large", "raise the limit on file sizes (ulimit -f)",
          "too many open files", "raise the limit on open files (ulimit -n)");

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
    String message = withoutResume(doing, path, cause);
    return new DiskFailureException(
        mendable(cause) ? message + ", then resume the run" : message, cause);
  }

  /** Explains the refusal of something that a run does without. */
  static String withoutResume(String doing, Path path, IOException cause) {
    return "cannot %s: %s: %s; %s"
        .formatted(doing, path.toAbsolutePath(), reason(cause), advice(path, cause));
  }

  private static boolean mendable(IOException cause) {
    String message = lowerCase(cause);
    return FULL.stream().anyMatch(message::contains)
        || LIMITS.keySet().stream().anyMatch(message::contains);
  }

  private static String lowerCase(IOException cause) {
    return String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
  }

  private static String reason(IOException cause) {
    String message = cause.getMessage();
    if (cause instanceof AccessDeniedException) {
      return "permission denied for user " + System.getProperty("user.name");
    }
    return message == null ? cause.getClass().getSimpleName() : message;
  }

  private static String advice(Path path, IOException cause) {
    String message = lowerCase(cause);
    if (FULL.stream().anyMatch(message::contains)) {
      return "%s; free some space there".formatted(freeSpace(path));
    }
    for (Map.Entry<String, String> limit : LIMITS.entrySet()) {
      if (message.contains(limit.getKey())) {
        return limit.getValue();
      }
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
