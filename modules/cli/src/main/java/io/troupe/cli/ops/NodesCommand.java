package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.text.SafeText;
import io.troupe.cli.ops.TextTable.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;

/** {@code troupe nodes}: the nodes of a run, with their workers and their GPUs. */
@Command(name = "nodes", description = "Nodes of a run and their workers.")
final class NodesCommand extends AnswerCommand {
  private static final TextTable WORKERS =
      new TextTable(
          List.of(
              Column.text("worker", "worker"),
              Column.text("present", "present"),
              Column.number("version", "version"),
              Column.number("behind", "behind"),
              Column.number("holds", "holds"),
              Column.number("demand", "demand"),
              Column.number("answered", "answered"),
              Column.number("tokens", "tokens")));
  private static final TextTable GPUS =
      new TextTable(
          List.of(
              Column.number("gpu", "index"),
              Column.text("name", "name"),
              new Column("used GiB", true, gpu -> gib(gpu.path("used_bytes"))),
              new Column("of GiB", true, gpu -> gib(gpu.path("memory_bytes"))),
              new Column("busy %", true, NodesCommand::busy),
              Column.text("state", "state"),
              Column.text("whose", "whose")));

  @Override
  String path() {
    return "/nodes";
  }

  @Override
  String text(JsonNode nodes) {
    StringBuilder text = new StringBuilder();
    for (JsonNode node : nodes) {
      text.append(SafeText.of(node.path("node").asText())).append('\n');
      node.path("facts").forEach(facts -> text.append(facts(facts)));
      text.append(WORKERS.of(node.path("workers")));
      if (!node.path("gpus").isEmpty()) {
        text.append(GPUS.of(node.path("gpus")));
      }
    }
    return text.toString();
  }

  private static String facts(JsonNode facts) {
    List<String> parts = new ArrayList<>();
    parts.add(facts.path("placement").asText());
    if (facts.path("version").asLong() >= 0) {
      long behind = facts.path("behind").asLong();
      parts.add(
          "weights v%d%s"
              .formatted(
                  facts.path("version").asLong(),
                  behind > 0 ? ", %d behind".formatted(behind) : ""));
    }
    parts.add(facts.path("trouble").asText());
    parts.removeIf(String::isEmpty);
    return parts.isEmpty() ? "" : "  " + SafeText.of(String.join("; ", parts)) + "\n";
  }

  private static String gib(JsonNode bytes) {
    return bytes.asLong() == 0
        ? "-"
        : String.format(Locale.ROOT, "%.1f", bytes.asDouble() / (1L << 30));
  }

  private static String busy(JsonNode gpu) {
    int percent = gpu.path("utilisation").asInt();
    return percent < 0 ? "-" : Integer.toString(percent);
  }
}
