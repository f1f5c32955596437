package io.troupe.store.journal;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.store.file.HostName;
import io.troupe.store.file.JournalException;
import io.troupe.store.file.LockedFile;
import io.troupe.store.file.StoreJson;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The right to write a journal: {@code journal/lock}, locked by this process. Who holds it is in
 * {@code journal/writer.json}, because no other process may open the locked file.
 */
final class JournalLock implements Closeable {
  private final Path key;
  private final LockedFile lock;

  private JournalLock(Path key, LockedFile lock) {
    this.key = key;
    this.lock = lock;
  }

  static JournalLock acquire(Path journal) throws IOException {
    Path key = journal.toRealPath();
    LockedFile lock = LockedFile.tryLock(key, "lock").orElseThrow(() -> held(key));
    return new JournalLock(key, lock);
  }

  /** Says who holds the lock; only the holder calls it. */
  void announce(long epoch, Instant now) throws IOException {
    Map<String, Object> writer = new LinkedHashMap<>();
    writer.put("pid", ProcessHandle.current().pid());
    writer.put("host", HostName.name());
    writer.put("epoch", epoch);
    writer.put("since", now.toString());
    AtomicFile.replace(writerFile(key), StoreJson.PRETTY.writeValueAsBytes(writer));
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
      JsonNode writer = StoreJson.LINE.readTree(Files.readAllBytes(writerFile(journal)));
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
    lock.close();
  }
}
