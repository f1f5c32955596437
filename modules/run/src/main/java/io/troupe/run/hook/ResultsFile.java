package io.troupe.run.hook;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.file.StoreJson;
import io.troupe.store.folder.RunFolder;
import io.troupe.telemetry.MetricsFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The result of a run, for people: {@code RESULTS.md} in its folder. */
public final class ResultsFile {
  private static final List<String> LAST =
      List.of("reward", "loss", "kl", "length", "degenerate_share", "tokens_per_second");

  private ResultsFile() {}

  /**
   * Writes the file, whole or not at all.
   *
   * @param end end of the run, as a sentence without a period
   * @param resume the command that continues the run
   */
  public static void write(RunFolder folder, String end, String resume) throws IOException {
    AtomicFile.replace(folder.path().resolve("RESULTS.md"), text(folder, end, resume));
  }

  static String text(RunFolder folder, String end, String resume) throws IOException {
    List<Map<String, Object>> rows = MetricsFile.read(folder.metrics(), 0);
    JsonNode run = StoreJson.LINE.readTree(Files.readAllBytes(folder.path().resolve("run.json")));
    List<String> lines = new ArrayList<>();
    lines.add("# " + folder.name());
    lines.add("");
    lines.add("%s.".formatted(end));
    lines.add("");
    lines.add("| | |");
    lines.add("|---|---|");
    lines.add("| started | %s |".formatted(run.path("started").asText()));
    lines.add("| host | %s |".formatted(run.path("host").asText()));
    lines.add("| Troupe | %s |".formatted(run.path("troupe").asText()));
    String dirty = run.path("git").path("dirty").asBoolean() ? ", with changes: patches/" : "";
    lines.add("| commit | %s%s |".formatted(run.path("git").path("commit").asText("none"), dirty));
    lines.add("| steps | %s |".formatted(rows.isEmpty() ? "0" : rows.getLast().get("step")));
    lines.add("");
    addEvaluations(lines, rows);
    addLast(lines, rows);
    lines.add("## Checkpoints");
    lines.add("");
    for (Checkpoint one : Checkpoints.view(folder.checkpoints()).list().whole()) {
      Path at = folder.path().relativize(one.directory());
      lines.add("- `%s`, %,d bytes".formatted(at, one.manifest().bytes()));
    }
    lines.add("");
    lines.add("Continue: `%s`".formatted(resume));
    lines.add("");
    return String.join("\n", lines);
  }

  private static void addEvaluations(List<String> lines, List<Map<String, Object>> rows) {
    Set<String> names = new TreeSet<>();
    rows.forEach(
        row -> row.keySet().stream().filter(ResultsFile::isEvaluation).forEach(names::add));
    if (names.isEmpty()) {
      return;
    }
    lines.add("## Evaluations");
    lines.add("");
    lines.add("| evaluation | first | best | at step | last |");
    lines.add("|---|---|---|---|---|");
    for (String name : names) {
      List<Map<String, Object>> of =
          rows.stream().filter(row -> row.get(name) instanceof Number).toList();
      if (!of.isEmpty()) {
        Map<String, Object> best = of.getFirst();
        for (Map<String, Object> row : of) {
          best = value(row, name) > value(best, name) ? row : best;
        }
        lines.add(
            String.format(
                Locale.ROOT,
                "| %s | %.4f | %.4f | %s | %.4f |",
                name.equals("eval") ? "held_out" : name.substring("eval_".length()),
                value(of.getFirst(), name),
                value(best, name),
                best.get("step"),
                value(of.getLast(), name)));
      }
    }
    lines.add("");
  }

  private static void addLast(List<String> lines, List<Map<String, Object>> rows) {
    if (rows.isEmpty()) {
      return;
    }
    lines.add("## Last step");
    lines.add("");
    for (String name : LAST) {
      if (rows.getLast().get(name) instanceof Number number) {
        lines.add(String.format(Locale.ROOT, "- %s: %.6g", name, number.doubleValue()));
      }
    }
    lines.add("");
  }

  static boolean isEvaluation(String metric) {
    return metric.equals("eval") || metric.startsWith("eval_");
  }

  private static double value(Map<String, Object> row, String name) {
    return row.get(name) instanceof Number number ? number.doubleValue() : Double.NaN;
  }
}
