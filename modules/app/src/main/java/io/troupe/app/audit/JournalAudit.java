package io.troupe.app.audit;

import io.troupe.core.audit.Audit;
import io.troupe.core.audit.AuditReport;
import io.troupe.store.JournalException;
import io.troupe.store.JournalReader;
import io.troupe.store.JournalRecord;
import io.troupe.store.JournalTail;
import io.troupe.store.RunFolder;
import io.troupe.store.RunJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;

/** Takes a run folder's journal through an {@link Audit}, one record in memory at a time. */
public final class JournalAudit {
  private JournalAudit() {}

  /**
   * What was found.
   *
   * @param fenced records of processes that had lost the journal to another one; they do not count
   * @param tornBytes at the journal's end that are no record: what a killed process leaves, or a
   *     live one is writing
   */
  public record Result(AuditReport report, long fenced, long tornBytes) {}

  /** Audits all records there are; a journal that cannot be read on is a violation. */
  public static Result of(RunFolder run) throws IOException {
    Audit audit = new Audit();
    try (JournalReader reader = JournalReader.open(run.journal())) {
      try {
        read(reader, audit);
      } catch (JournalException.Corrupt damaged) {
        audit.unreadable(String.valueOf(damaged.getMessage()));
      }
      long torn =
          switch (reader.tail()) {
            case JournalTail.Whole() -> 0;
            case JournalTail.Torn(var _, long _, long bytes, String _) -> bytes;
          };
      return new Result(audit.report(), reader.fenced(), torn);
    }
  }

  private static void read(JournalReader reader, Audit audit) throws IOException {
    for (Optional<JournalRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
      JournalRecord record = next.get();
      try {
        audit.record(record.sequence(), RunJson.events(record.payload()));
      } catch (UncheckedIOException unknown) {
        audit.unreadable(
            "record %d holds no event this version knows: %s"
                .formatted(record.sequence(), firstLine(unknown)));
      }
    }
  }

  private static String firstLine(Exception failure) {
    return String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
  }
}
