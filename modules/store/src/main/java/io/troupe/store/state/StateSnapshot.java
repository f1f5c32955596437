package io.troupe.store.state;

import io.troupe.base.files.AtomicFile;
import io.troupe.core.run.RunState;
import io.troupe.store.segment.JournalPosition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A run's state, and its position in the journal, which continues from there.
 *
 * @param journal the place behind the last record that the state holds
 */
public record StateSnapshot(JournalPosition journal, RunState state) {
  /** The file of the state in a checkpoint. */
  public static final String FILE = "state.json";

  /** Reads a file; empty when there is none. */
  public static Optional<StateSnapshot> read(Path file) throws IOException {
    try {
      return Optional.of(RunJson.snapshot(file, Files.readAllBytes(file)));
    } catch (NoSuchFileException absent) {
      return Optional.empty();
    }
  }

  /** Replaces a file, whole or not at all. */
  public void write(Path file) throws IOException {
    AtomicFile.replace(file, RunJson.encode(this));
  }
}
