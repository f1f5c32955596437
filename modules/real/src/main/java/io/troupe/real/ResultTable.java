package io.troupe.real;

import io.troupe.base.text.SafeText;
import io.troupe.real.CaseResult.CaseOutcome;
import io.troupe.real.CounterpartResult.Ending;
import java.util.ArrayList;
import java.util.List;

/** The results of counterparts as text: one line each, and the failures below. */
final class ResultTable {
  private static final int SHOWN_VALUE = 400;
  private static final int SHOWN_FAILURES = 20;
  private static final String LINE = "%-14s %-44s %7s %7s %8s %8s";

  private ResultTable() {}

  static List<String> lines(List<CounterpartResult> results) {
    List<String> lines = new ArrayList<>();
    lines.add(
        LINE.formatted("counterpart", "version", "cases", "failed", "skipped", "seconds").strip());
    results.forEach(each -> lines.add(line(each)));
    results.forEach(each -> lines.addAll(failures(each)));
    return lines;
  }

  private static String line(CounterpartResult result) {
    String version = SafeText.of(result.version(), 44);
    return result.ending() instanceof Ending.NotRun(String why)
        ? "%-14s %-44s skipped: %s".formatted(result.name(), version, why)
        : LINE.formatted(
            result.name(),
            version,
            result.cases().size(),
            result.failures(),
            result.count(CaseOutcome.SKIPPED),
            result.took().toSeconds());
  }

  private static List<String> failures(CounterpartResult result) {
    List<String> lines = new ArrayList<>();
    String title = "%s %s".formatted(result.name(), result.version());
    List<CaseResult> failed =
        result.cases().stream().filter(each -> each.outcome() == CaseOutcome.FAILED).toList();
    for (CaseResult each : failed.subList(0, Math.min(SHOWN_FAILURES, failed.size()))) {
      lines.add("");
      lines.add("%s: %s".formatted(title, each.name()));
      lines.add("  expected  " + SafeText.of(each.expected(), SHOWN_VALUE));
      lines.add("  got       " + SafeText.of(each.got(), SHOWN_VALUE));
      if (!each.why().isEmpty()) {
        lines.add("  why       " + SafeText.of(each.why(), SHOWN_VALUE));
      }
    }
    if (failed.size() > SHOWN_FAILURES) {
      lines.add("");
      lines.add("%s: %d more failures".formatted(title, failed.size() - SHOWN_FAILURES));
    }
    if (result.ending() instanceof Ending.Broken(String why)) {
      lines.add("");
      lines.add("%s: %s".formatted(title, why));
    }
    return lines;
  }
}
