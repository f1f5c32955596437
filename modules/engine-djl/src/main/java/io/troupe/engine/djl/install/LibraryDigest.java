package io.troupe.engine.djl.install;

import io.troupe.base.hash.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The digest of a library's content, with what shows cheaply that the file has not changed since: a
 * library of CUDA has gigabytes, and each process of a run asks.
 *
 * @param file absolute
 * @param size bytes
 * @param changed time of the last change of the content or an attribute, in nanoseconds of the file
 *     system; programs cannot set it
 * @param sha256 64 hexadecimal digits
 */
record LibraryDigest(String file, long size, long changed, String sha256) {
  static LibraryDigest of(Path file) throws IOException {
    return new LibraryDigest(
        file.toAbsolutePath().toString(), Files.size(file), changed(file), Sha256.hex(file));
  }

  /** Whether a file is the digested one, and has not changed since. */
  boolean isUnchanged(Path now) throws IOException {
    return file.equals(now.toAbsolutePath().toString())
        && Files.isRegularFile(now)
        && Files.size(now) == size
        && changed(now) == changed;
  }

  private static long changed(Path file) throws IOException {
    Map<String, Object> times =
        Files.getFileStore(file).supportsFileAttributeView("unix")
            ? Files.readAttributes(file, "unix:ctime")
            : Files.readAttributes(file, "lastModifiedTime");
    return times.values().stream()
        .map(FileTime.class::cast)
        .mapToLong(time -> time.to(TimeUnit.NANOSECONDS))
        .findFirst()
        .orElseThrow();
  }
}
