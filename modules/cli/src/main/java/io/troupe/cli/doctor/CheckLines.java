package io.troupe.cli.doctor;

import io.troupe.run.session.JsonText;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Findings as lines of text, or as one JSON object. */
public final class CheckLines {
  private CheckLines() {}

  /** Prints findings. */
  public static void print(List<CheckResult> findings, boolean json, PrintWriter out) {
    if (json) {
      out.println(new JsonText().line(json(findings)));
    } else {
      int width = findings.stream().mapToInt(finding -> finding.name().length()).max().orElse(0);
      findings.forEach(finding -> out.println(line(finding, width)));
    }
    out.flush();
  }

  private static Map<String, Object> json(List<CheckResult> findings) {
    List<Map<String, String>> checks = new ArrayList<>();
    for (CheckResult finding : findings) {
      Map<String, String> check = new LinkedHashMap<>();
      check.put("name", finding.name());
      check.put("status", finding.status().name().toLowerCase(Locale.ROOT));
      check.put("detail", finding.detail());
      check.put("next", finding.next());
      checks.add(check);
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sound", MachineChecks.sound(findings));
    json.put("checks", checks);
    return json;
  }

  private static String line(CheckResult finding, int width) {
    String status = finding.status().name().toLowerCase(Locale.ROOT);
    String line =
        status
            + " ".repeat(6 - status.length())
            + finding.name()
            + " ".repeat(width - finding.name().length() + 2)
            + finding.detail();
    return finding.next().isEmpty() ? line : line + "\n" + " ".repeat(width + 8) + finding.next();
  }
}
