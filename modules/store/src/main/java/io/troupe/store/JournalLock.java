package io.troupe.store;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The right to write a journal: a lock of the operating system on {@code journal/lock}, which it
 * releases when the process ends, however it ends. Who holds it stands in {@code
 * journal/writer.json}.
 *
 * <p>Two files, because on POSIX systems a process that opens and closes a locked file through
 * another descriptor loses the lock; for the same reason a folder that this process has locked is
 * refused before the lock file is opened again.
 */
final class JournalLock implements Closeable {
  private static final Set<Path> HELD_HERE = ConcurrentHashMap.newKeySet();

  private final Path key;
  private final FileChannel channel;

  private JournalLock(Path key, FileChannel channel) {
    this.key = key;
    this.channel = channel;
  }

  static JournalLock acquire(Path journal) throws IOException {
    Path key = journal.toRealPath();
    if (!HELD_HERE.add(key)) {
      throw held(key);
    }
    try {
      return new JournalLock(key, lock(key));
    } catch (IOException | RuntimeException failure) {
      HELD_HERE.remove(key);
      throw failure;
    }
  }

  /** Says who holds the lock; only the holder calls it. */
  void announce(long epoch, Instant now) throws IOException {
    Map<String, Object> writer = new LinkedHashMap<>();
    writer.put("pid", ProcessHandle.current().pid());
    writer.put("host", Host.name());
    writer.put("epoch", epoch);
    writer.put("since", now.toString());
    Path temporary = key.resolve("writer.json.tmp");
    Files.deleteIfExists(temporary);
    Durable.write(temporary, Json.PRETTY.writeValueAsBytes(writer));
    Files.move(temporary, writerFile(key), StandardCopyOption.ATOMIC_MOVE);
  }

  private static FileChannel lock(Path journal) throws IOException {
    Path file = journal.resolve("lock");
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      Optional<FileLock> lock = Optional.ofNullable(channel.tryLock());
      if (lock.isEmpty()) {
        throw held(journal);
      }
      return channel;
    } catch (OverlappingFileLockException here) {
      channel.close();
      throw held(journal);
    } catch (JournalException.Locked elsewhere) {
      channel.close();
      throw elsewhere;
    } catch (IOException unsupported) {
      channel.close();
      throw DiskFailure.explain(
          "lock the journal (does its file system support locks?)", file, unsupported);
    }
  }

  private static JournalException.Locked held(Path journal) {
    Optional<Path> run = Optional.ofNullable(journal.getParent());
    return new JournalException.Locked(
        ("run folder %s is in use: %s writes its journal. Wait until that process ends or stop it,"
                + " then try again; or start a new run")
            .formatted(run.orElse(journal), holder(journal)));
  }

  private static String holder(Path journal) {
    try {
      JsonNode writer = Json.LINE.readTree(Files.readAllBytes(writerFile(journal)));
      return "process %s on host %s (since %s)"
          .formatted(
              writer.path("pid").asText("unknown"),
              writer.path("host").asText("unknown"),
              writer.path("since").asText("an unknown time"));
    } catch (IOException unreadable) {
      return "a process that has not said who it is yet";
    }
  }

  private static Path writerFile(Path journal) {
    return journal.resolve("writer.json");
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      HELD_HERE.remove(key);
    }
  }
}
