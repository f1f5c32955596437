package io.troupe.store.audit;

import io.troupe.core.audit.Audit;
import io.troupe.core.audit.AuditReport;
import io.troupe.store.file.FormatException;
import io.troupe.store.file.JournalException;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.JournalTail;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.state.RunJson;
import java.io.IOException;
import java.util.Optional;

/** Takes a run folder's journal through an {@link Audit}, one record in memory at a time. */
public final class JournalAudit {
  private JournalAudit() {}

  /**
   * The findings of the audit.
   *
   * @param fenced records of processes that had lost the journal to another one; they do not count
   * @param dropped records that are not kept any more; the account believes what they come to
   * @param tornBytes at the journal's end that are no record: what a killed process leaves, or a
   *     live one is writing
   */
  public record Result(AuditReport report, long dropped, long fenced, long tornBytes) {}

  /** An audit that begins where a journal does. */
  public static Audit begin(RunJournal journal) {
    return journal
        .base()
        .map(base -> new Audit(base.journal().sequence(), base.state()))
        .orElseGet(Audit::new);
  }

  /** Audits all records there are; a journal that cannot be read on is a violation. */
  public static Result of(RunFolder run) throws IOException {
    try (RunJournal reader = RunJournal.open(run.journal())) {
      Audit audit = begin(reader);
      long dropped = reader.records();
      try {
        read(reader, audit);
      } catch (JournalException.Corrupt damaged) {
        audit.unreadable(String.valueOf(damaged.getMessage()));
      }
      long torn =
          switch (reader.tail()) {
            case JournalTail.Whole() -> 0;
            case JournalTail.Torn(var _, long _, long bytes, String _, var _) -> bytes;
          };
      return new Result(audit.report(), dropped, reader.fenced(), torn);
    }
  }

  private static void read(RunJournal reader, Audit audit) throws IOException {
    boolean more = true;
    while (more) {
      try {
        Optional<RunJson.Entry> next = reader.next();
        next.ifPresent(entry -> audit.record(reader.records(), entry.events()));
        more = next.isPresent();
      } catch (FormatException other) {
        audit.unreadable(String.valueOf(other.getMessage()));
      }
    }
  }
}
