package io.troupe.soak;

import io.troupe.core.audit.Audit;
import io.troupe.core.audit.AuditReport;
import io.troupe.core.run.Event;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.file.JournalException;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.state.RunJson;
import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Follows the journal of a run that continues, and audits it on the way. If records turn out to be
 * those of a process that had lost the run, it begins again from the first one.
 */
final class JournalFollower implements Closeable {
  private final RunFolder run;
  private final Map<String, Long> grants = new HashMap<>();
  private Audit audit;
  private RunJournal reader;
  private long steps;
  private boolean ended;

  JournalFollower(RunFolder run) throws IOException {
    this.run = run;
    this.reader = RunJournal.open(run.journal());
    this.audit = JournalAudit.begin(reader);
  }

  /** Reads what is new. */
  void look(long now) throws IOException {
    try {
      read(now);
    } catch (JournalException.Corrupt fenced) {
      reader.close();
      reader = RunJournal.open(run.journal());
      audit = JournalAudit.begin(reader);
      steps = 0;
      read(now);
    }
  }

  private void read(long now) throws IOException {
    for (Optional<RunJson.Entry> next = reader.next(); next.isPresent(); next = reader.next()) {
      List<Event> events = next.get().events();
      audit.record(reader.records(), events);
      for (Event event : events) {
        if (event instanceof Event.StepTrained) {
          steps++;
        } else if (event instanceof Event.LeaseGranted(var _, var worker, var _, var _)) {
          grants.put(worker.value(), now);
        }
        ended = event instanceof Event.RunEnded || (ended && !(event instanceof Event.RunResumed));
      }
    }
  }

  /** Steps ever trained, those too that were undone. */
  long steps() {
    return steps;
  }

  /** Returns the time at which a worker, under whatever name, was last seen to get a lease. */
  long lastGrant(String worker) {
    return grants.entrySet().stream()
        .filter(one -> one.getKey().startsWith(worker))
        .mapToLong(Map.Entry::getValue)
        .max()
        .orElse(Long.MIN_VALUE);
  }

  /** Whether the run has ended, and was not resumed. */
  boolean ended() {
    return ended;
  }

  AuditReport report() {
    return audit.report();
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
