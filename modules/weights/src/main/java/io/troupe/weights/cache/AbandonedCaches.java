package io.troupe.weights.cache;

import io.troupe.base.files.FileTree;
import io.troupe.base.files.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folders of weights in memory whose owners were killed: without a deletion they stay until the
 * host restarts. The lock of an owner's file shows that it is gone.
 */
public final class AbandonedCaches {
  private static final Logger LOG = LoggerFactory.getLogger(AbandonedCaches.class);

  /** A directory this young may have an owner that has not locked it yet. */
  private static final Duration YOUNG = Duration.ofMinutes(1);

  private AbandonedCaches() {}

  /**
   * Deletes those of this user on this host: private folders with the mark of a cache that no
   * process owns.
   */
  public static void delete() {
    delete(WeightCacheSettings.MEMORY, System.currentTimeMillis() - YOUNG.toMillis());
  }

  static void delete(Path memory, long olderThan) {
    if (!Files.isDirectory(memory)) {
      return;
    }
    try (DirectoryStream<Path> caches =
        Files.newDirectoryStream(memory, WeightCacheSettings.PREFIX + "*")) {
      for (Path cache : caches) {
        deleteAbandoned(cache, olderThan);
      }
    } catch (IOException | DirectoryIteratorException unlisted) {
      LOG.warn("event=abandoned_weights_not_found reason=\"{}\"", unlisted.getMessage());
    }
  }

  private static void deleteAbandoned(Path cache, long olderThan) {
    try {
      Path mark = cache.resolve(FolderOwnership.LOCK);
      if (ours(cache, mark) && mark.toFile().lastModified() < olderThan && free(mark)) {
        FileTree.delete(cache);
        LOG.info("event=abandoned_weights_deleted directory={}", cache);
      }
    } catch (NoSuchFileException gone) {
      LOG.debug("event=abandoned_weights_gone directory={}", cache); // Another process was faster.
    } catch (IOException stays) {
      LOG.warn(
          "event=abandoned_weights_left directory={} reason=\"{}\"", cache, stays.getMessage());
    }
  }

  /**
   * Whether a cache is this user's. Links are not followed: every user may put one where all may
   * write.
   */
  private static boolean ours(Path cache, Path mark) throws IOException {
    return Files.isDirectory(cache, LinkOption.NOFOLLOW_LINKS)
        && PrivateFiles.owned(cache)
        && Files.isRegularFile(mark, LinkOption.NOFOLLOW_LINKS)
        && PrivateFiles.owned(mark);
  }

  private static boolean free(Path mark) throws IOException {
    if (FolderOwnership.isHeldHere(mark)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(mark, StandardOpenOption.WRITE);
        FileLock held = channel.tryLock()) {
      return held != null;
    }
  }
}
