package io.troupe.store.audit;

import io.troupe.core.audit.AuditCounter;
import io.troupe.core.audit.AuditReport;
import io.troupe.core.audit.AuditViolation;
import io.troupe.store.folder.RunFolder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The account of an audited run, as lines of text and as JSON. */
public final class AuditText {
  private static final int MOST_LINES = 20;

  private record Row(String title, AuditCounter entry) {}

  private static final List<Row> GROUPS =
      List.of(
          new Row("admitted", AuditCounter.ADMITTED),
          new Row("  trained", AuditCounter.TRAINED),
          new Row("  filtered (equal rewards)", AuditCounter.FILTERED),
          new Row("  skipped (loss not finite)", AuditCounter.SKIPPED),
          new Row("  failed (attempts used up)", AuditCounter.FAILED));

  private static final List<Row> LEASES =
      List.of(
          new Row("granted", AuditCounter.GRANTED),
          new Row("  trained", AuditCounter.TRAINED),
          new Row("  filtered", AuditCounter.FILTERED),
          new Row("  skipped", AuditCounter.SKIPPED),
          new Row("  too stale", AuditCounter.STALE),
          new Row("  expired", AuditCounter.EXPIRED),
          new Row("  worker lost", AuditCounter.LOST),
          new Row("  failed", AuditCounter.BROKEN),
          new Row("  engine, agent or verifiers away", AuditCounter.OUTAGES),
          new Row("  cancelled (drain, end, resume)", AuditCounter.CANCELLED));

  private AuditText() {}

  /** The account as a table, and every violation in a line. */
  public static List<String> lines(RunFolder run, JournalAudit.Result result) {
    AuditReport report = result.report();
    List<String> lines = new ArrayList<>();
    lines.add(
        "audit  %s · %,d records, %,d events · %d %s · %s"
            .formatted(
                run.name(),
                report.records(),
                report.events(),
                report.processes(),
                report.processes() == 1 ? "process" : "processes",
                report.state()));
    lines.add("");
    lines.add("%-34s %12s %12s %12s".formatted("groups", "seen", "undone", "stands"));
    GROUPS.forEach(row -> lines.add(line(row, report)));
    lines.add(number("  pending", report.pending()));
    lines.add(
        "    waiting %d, under lease %d, buffered %d, in training %d"
            .formatted(report.waiting(), report.leased(), report.buffered(), report.training()));
    lines.add("");
    lines.add("%-34s %12s %12s %12s".formatted("leases", "seen", "undone", "stands"));
    LEASES.forEach(row -> lines.add(line(row, report)));
    lines.add(number("  live", report.leased() + report.buffered() + report.training()));
    lines.add(line(new Row("late answers refused", AuditCounter.REFUSED), report));
    if (report.seen().of(AuditCounter.REUSED) > 0) {
      lines.add(line(new Row("further uses of trained groups", AuditCounter.REUSED), report));
    }
    lines.add("");
    lines.add(
        "steps   %d, and %d made again after a resume"
            .formatted(report.version(), report.undoneSteps()));
    lines.add("epochs  %d complete".formatted(report.epochs()));
    AuditReport.Tokens tokens = report.tokens();
    lines.add(
        "tokens  %,d with loss weight, %,d without · staleness of the former: %d at most, bound %d"
            .formatted(
                tokens.weighted(), tokens.unweighted(), tokens.stalenessMax(), tokens.boundMax()));
    report
        .failed()
        .forEach((reason, count) -> lines.add("failed  %d × %s".formatted(count, reason)));
    if (result.dropped() > 0) {
      lines.add(
          "from    record %,d: those before it were dropped (recording.journal); what they come to"
                  .formatted(result.dropped() + 1)
              + " is believed");
    }
    if (result.fenced() > 0) {
      lines.add("fenced  %d records of processes that had lost the run".formatted(result.fenced()));
    }
    if (result.tornBytes() > 0) {
      lines.add("tail    %d bytes of an unfinished record".formatted(result.tornBytes()));
    }
    lines.add("");
    verdict(report, lines);
    return lines;
  }

  private static void verdict(AuditReport report, List<String> lines) {
    if (report.sound()) {
      lines.add("sound   S1 staleness, S2 exactly once: no violation");
      return;
    }
    lines.add("BROKEN  %d violations".formatted(report.violationCount()));
    report.violations().stream()
        .limit(MOST_LINES)
        .forEach(violation -> lines.add("  " + violation));
    if (report.violationCount() > MOST_LINES) {
      lines.add("  … the first %d; --json gives up to 1,000".formatted(MOST_LINES));
    }
  }

  private static String line(Row row, AuditReport report) {
    long seen = report.seen().of(row.entry());
    long stands = report.stands().of(row.entry());
    return "%-34s %,12d %,12d %,12d".formatted(row.title(), seen, seen - stands, stands);
  }

  private static String number(String title, long stands) {
    return "%-34s %12s %12s %,12d".formatted(title, "", "", stands);
  }

  /** The account as an object. */
  public static Map<String, Object> json(RunFolder run, JournalAudit.Result result) {
    AuditReport report = result.report();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("run", run.name());
    json.put("sound", report.sound());
    json.put("state", report.state());
    json.put("records", report.records());
    json.put("events", report.events());
    json.put("processes", report.processes());
    json.put("steps", report.version());
    json.put("steps_undone", report.undoneSteps());
    json.put("epochs", report.epochs());
    json.put("seen", counts(report, true));
    json.put("stands", counts(report, false));
    json.put(
        "pending",
        Map.of(
            "waiting", report.waiting(),
            "leased", report.leased(),
            "buffered", report.buffered(),
            "training", report.training()));
    json.put(
        "tokens",
        Map.of(
            "weighted", report.tokens().weighted(),
            "unweighted", report.tokens().unweighted(),
            "staleness_max", report.tokens().stalenessMax(),
            "bound", report.tokens().boundMax()));
    json.put("failed", report.failed());
    json.put("dropped_records", result.dropped());
    json.put("fenced_records", result.fenced());
    json.put("torn_bytes", result.tornBytes());
    json.put("violation_count", report.violationCount());
    json.put("violations", report.violations().stream().map(AuditText::json).toList());
    return json;
  }

  private static Map<String, Long> counts(AuditReport report, boolean seen) {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (AuditCounter entry : AuditCounter.values()) {
      counts.put(
          entry.name().toLowerCase(Locale.ROOT),
          (seen ? report.seen() : report.stands()).of(entry));
    }
    return counts;
  }

  private static Map<String, Object> json(AuditViolation violation) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("record", violation.record());
    json.put("rule", violation.rule().title());
    json.put("what", violation.what());
    return json;
  }
}
