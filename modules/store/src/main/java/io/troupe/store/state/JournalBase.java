package io.troupe.store.state;

import io.troupe.store.segment.JournalPosition;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The beginning of a journal whose older segments were dropped: {@code journal/base.json}, written
 * before the first of them is deleted. It holds the state that the dropped records come to, so that
 * what is kept can be folded on.
 */
public record JournalBase(StateSnapshot snapshot) {
  private static final String NAME = "base.json";

  /** The place behind the last dropped record. */
  public JournalPosition position() {
    return snapshot.journal();
  }

  /** The base of a journal; none when all of it is kept. */
  public static Optional<JournalBase> read(Path journal) throws IOException {
    return StateSnapshot.read(journal.resolve(NAME)).map(JournalBase::new);
  }

  public void write(Path journal) throws IOException {
    snapshot.write(journal.resolve(NAME));
  }
}
