package io.troupe.run.session;

import io.troupe.base.process.BoundedCloser;
import io.troupe.config.RunConfig;
import io.troupe.run.hook.RunHooks;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalArchiver;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.JournalWriter;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * The parts of a session that work on the run folder beside the actors: its journal, and the
 * readers of its files.
 *
 * @param copy of the run on S3
 * @param trackers that get the run's metrics
 * @param hooks programs of the user
 * @param journal writer of the run's events
 * @param archiver compresses the journal's old segments
 */
record SessionFiles(
    RunCopy copy,
    RunTrackers trackers,
    RunHooks hooks,
    JournalWriter journal,
    JournalArchiver archiver) {

  /**
   * Opens all parts.
   *
   * @param closer closes the parts, the last one first
   * @param say takes lines for the operator
   */
  static SessionFiles open(
      RunConfig config,
      RunFolder folder,
      Journal journal,
      BoundedCloser closer,
      Consumer<String> say)
      throws IOException, InterruptedException {
    RunCopy copy =
        closer.add(
            () -> "the copy of the run",
            "the copy lacks the last files; `troupe runs sync` sends them",
            RunCopy.start(config.run().sync(), folder, say));
    RunTrackers trackers =
        closer.add(
            () -> "the trackers",
            "a tracker may lack the last steps; `troupe track` sends them",
            RunTrackers.of(config, folder, say));
    RunHooks hooks =
        closer.add(
            () -> "a program of `on`",
            "it may not have ended",
            RunHooks.open(config.on(), folder, say));
    JournalWriter writer =
        closer.add(
            () -> "the journal",
            "a resume makes the steps since the last checkpoint again",
            JournalWriter.start(journal, JournalSettings.defaults().queueCapacity()));
    JournalArchiver archiver =
        closer.add(
            () -> "the archive of the journal",
            "the next start compresses what is left",
            JournalArchiver.start(folder, config.recording().journalBytes(), say));
    return new SessionFiles(copy, trackers, hooks, writer, archiver);
  }
}
