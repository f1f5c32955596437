package io.troupe.store.journal;

import io.troupe.base.failure.Uninterrupted;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * Gives a journal's {@link JournalArchive} a thread of its own, away from the writer's: it works
 * when a checkpoint was saved. A failure is reported once and costs disk space, never the run.
 */
public final class JournalArchiver implements AutoCloseable {
  private final JournalArchive archive;
  private final Consumer<String> report;
  private final Semaphore due = new Semaphore(1);
  private final Thread thread;
  private volatile boolean stopped;
  private boolean reported;

  private JournalArchiver(Path journal, Path checkpoints, long keepBytes, Consumer<String> report) {
    this.archive = new JournalArchive(journal, checkpoints, keepBytes, () -> stopped);
    this.report = report;
    this.thread = Thread.ofPlatform().name("journal-archive").daemon().unstarted(this::run);
  }

  /**
   * Starts the thread, which looks at once: an earlier process may have left something to do.
   *
   * @param keepBytes of older, compressed segments; 0 keeps all
   * @param report takes one sentence, at most once
   */
  public static JournalArchiver start(RunFolder run, long keepBytes, Consumer<String> report) {
    JournalArchiver tidier =
        new JournalArchiver(run.journal(), run.checkpoints(), keepBytes, report);
    tidier.thread.start();
    return tidier;
  }

  /**
   * Does once, on the caller's thread, what the thread does after each checkpoint.
   *
   * @param journal a run's {@code journal/}, whose lock the caller holds
   * @param checkpoints of the same run
   */
  public static void tidy(Path journal, Path checkpoints, long keepBytes) throws IOException {
    new JournalArchive(journal, checkpoints, keepBytes, () -> false).tidy();
  }

  /** Says that a checkpoint was saved; returns at once. */
  public void checkpointed() {
    due.release();
  }

  private void run() {
    while (true) {
      due.acquireUninterruptibly();
      due.drainPermits();
      if (stopped) {
        return;
      }
      try {
        archive.tidy();
      } catch (IOException | RuntimeException failure) {
        if (!reported) {
          reported = true;
          report.accept("older segments of the journal stay as they are: " + failure.getMessage());
        }
      }
    }
  }

  /** Stops as soon as it can, leaving the journal whole, and waits for that. */
  @Override
  public void close() {
    stopped = true;
    due.release();
    Uninterrupted.join(thread); // The journal's lock is released next.
  }
}
