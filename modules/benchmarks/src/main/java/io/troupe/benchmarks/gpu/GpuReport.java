package io.troupe.benchmarks.gpu;

import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.benchmarks.harness.PerformancePage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The results of rows, as text, as JSON and as a section of docs/performance.md.
 *
 * @param rows in the order in which they ran
 */
record GpuReport(GpuSetting setting, List<Result> rows) {
  /** The mark of everything that a rehearsal prints. */
  static final String REHEARSAL = "REHEARSAL on the CPU: no number of a GPU";

  /**
   * The result of a part of a row.
   *
   * @param failure why it ended without a result; empty if it has one
   */
  record Result(GpuRow row, String part, GpuWork.Outcome outcome, String failure, double seconds) {}

  GpuReport {
    rows = List.copyOf(rows);
  }

  boolean isKept() {
    return rows.stream()
        .allMatch(
            result ->
                result.failure.isEmpty()
                    && result.outcome.measurements().stream().allMatch(GpuMeasurement::isKept));
  }

  String title() {
    GpuSetting.Machine machine = setting.machine();
    String rate =
        machine.operations() > 0
            ? String.format(Locale.ROOT, ", %.3g TFLOP/s in bfloat16", machine.operations() / 1e12)
            : "";
    return "%s%s%s; %s"
        .formatted(
            setting.rehearsal() ? REHEARSAL + "; " : "",
            machine.name(),
            rate,
            machine.pytorch().isEmpty()
                ? "no PyTorch for Python beside it"
                : "beside PyTorch " + machine.pytorch());
  }

  void print() {
    System.out.println(title());
    String line = "%-4s%-62s%12s%12s%8s%14s  %s%n";
    System.out.printf(line, "", "", "ours", "PyTorch", "ratio", "bar", "");
    for (Result result : rows) {
      for (GpuMeasurement each : result.outcome.measurements()) {
        System.out.printf(
            line,
            each.row().label(),
            quantity(each),
            number(each.ours()),
            each.pytorch().isPresent() ? number(each.pytorch().getAsDouble()) : "–",
            each.ratio().isPresent() ? number(each.ratio().getAsDouble()) : "–",
            bar(each),
            verdict(each));
      }
      result
          .outcome
          .notes()
          .forEach(note -> System.out.printf("%-4s%s%n", result.row.label(), note));
      if (!result.failure.isEmpty()) {
        System.out.printf("%-4sFAILED %s: %s%n", result.row.label(), result.part, result.failure);
      }
    }
  }

  private static String quantity(GpuMeasurement each) {
    return each.unit().isEmpty() ? each.name() : each.name() + ", " + each.unit();
  }

  /** Formats with three digits that say something, however small the number is. */
  private static String number(double value) {
    return Math.abs(value) < .1 && value != 0
        ? String.format(Locale.ROOT, "%.2e", value)
        : PerformancePage.number(value);
  }

  private static String bar(GpuMeasurement each) {
    return switch (each.bar().judged()) {
      case NOTHING -> "–";
      case VALUE_AT_MOST -> "≤ " + number(each.bar().number());
      case VALUE_AT_LEAST -> "≥ " + number(each.bar().number());
      case RATIO_AT_LEAST -> "ratio ≥ " + number(each.bar().number());
    };
  }

  private static String verdict(GpuMeasurement each) {
    return each.bar().judged() == GpuMeasurement.Judged.NOTHING
        ? ""
        : each.isKept() ? "ok" : "MISSED";
  }

  /** Returns the rows as a table in Markdown. */
  String markdown() {
    StringBuilder table = new StringBuilder();
    table.append(
        "| | | unit | ours | PyTorch | ratio | bar | |\n|---|---|---|---:|---:|---:|---:|---|\n");
    List<String> notes = new ArrayList<>();
    for (Result result : rows) {
      for (GpuMeasurement each : result.outcome.measurements()) {
        table.append(
            "| %s | %s | %s | %s | %s | %s | %s | %s |\n"
                .formatted(
                    each.row(),
                    each.name(),
                    each.unit(),
                    number(each.ours()),
                    each.pytorch().isPresent() ? number(each.pytorch().getAsDouble()) : "–",
                    each.ratio().isPresent() ? number(each.ratio().getAsDouble()) : "–",
                    bar(each),
                    verdict(each).toLowerCase(Locale.ROOT)));
      }
      result.outcome.notes().forEach(note -> notes.add("- %s: %s".formatted(result.row, note)));
      if (!result.failure.isEmpty()) {
        notes.add("- %s %s failed: %s".formatted(result.row, result.part, result.failure));
      }
    }
    return table + (notes.isEmpty() ? "" : "\n" + String.join("\n", notes) + "\n");
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("rehearsal", setting.rehearsal());
    json.put("tiny", setting.tiny());
    json.put("machine", setting.machine());
    json.put("rows", rows);
    return json;
  }
}
