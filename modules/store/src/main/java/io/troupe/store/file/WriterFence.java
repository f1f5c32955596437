package io.troupe.store.file;

import java.io.IOException;

/** Asks whether this process may still change the files of the run's one writer. */
@FunctionalInterface
public interface WriterFence {
  /** For a run that no other process can take over. */
  WriterFence NONE = () -> {};

  /**
   * Looks again; may block, as file systems of a network do.
   *
   * @throws JournalException.Fenced if another process has taken over
   */
  void check() throws IOException;
}
