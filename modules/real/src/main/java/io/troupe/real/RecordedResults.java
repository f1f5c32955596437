package io.troupe.real;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.real.CaseResult.CaseOutcome;
import io.troupe.real.CounterpartResult.Ending;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The last result of each counterpart that was recorded, by its name, and the page of them. */
record RecordedResults(Map<String, Entry> entries) {
  /** A result. */
  record Entry(String version, String date, int cases, int failed, int skipped, String claim) {}

  /** The file of the results, below the module's folder. */
  static final String FILE = "results.json";

  /** The page of them, below the work tree. */
  static final String PAGE = "docs/compatibility.md";

  private static final JsonMapper JSON = new JsonMapper();

  RecordedResults {
    entries = Map.copyOf(entries);
  }

  static RecordedResults read(Path module) throws IOException {
    Path file = module.resolve(FILE);
    Map<String, Entry> entries = new TreeMap<>();
    if (Files.exists(file)) {
      JSON.readTree(file.toFile())
          .properties()
          .forEach(each -> entries.put(each.getKey(), entry(each.getValue())));
    }
    return new RecordedResults(entries);
  }

  private static Entry entry(JsonNode fields) {
    return new Entry(
        fields.path("version").asText(),
        fields.path("date").asText(),
        fields.path("cases").asInt(),
        fields.path("failed").asInt(),
        fields.path("skipped").asInt(),
        fields.path("claim").asText());
  }

  /** Returns these results, with one more in place of the former of the same counterpart. */
  RecordedResults with(Counterpart counterpart, CounterpartResult result, String date) {
    Map<String, Entry> more = new TreeMap<>(entries);
    if (result.ending() instanceof Ending.Complete) {
      more.put(
          counterpart.name(),
          new Entry(
              result.version(),
              date,
              result.cases().size(),
              result.failures(),
              result.count(CaseOutcome.SKIPPED),
              counterpart.claim()));
    }
    return new RecordedResults(more);
  }

  void write(Path module, Path tree) throws IOException {
    ObjectNode all = JSON.createObjectNode();
    new TreeMap<>(entries)
        .forEach(
            (name, entry) ->
                all.putObject(name)
                    .put("version", entry.version())
                    .put("date", entry.date())
                    .put("cases", entry.cases())
                    .put("failed", entry.failed())
                    .put("skipped", entry.skipped())
                    .put("claim", entry.claim()));
    AtomicFile.replace(module.resolve(FILE), all.toPrettyString() + "\n");
    AtomicFile.replace(tree.resolve(PAGE), page());
  }

  /** Returns the page in Markdown. */
  String page() {
    List<String> rows =
        new TreeMap<>(entries)
            .entrySet().stream()
                .map(
                    each ->
                        "| %s | %s | %s | %d | %d | %d | %s |"
                            .formatted(
                                each.getKey(),
                                each.getValue().version(),
                                each.getValue().date(),
                                each.getValue().cases(),
                                each.getValue().failed(),
                                each.getValue().skipped(),
                                each.getValue().claim()))
                .toList();
    return """
        # Compatibility

        What Troupe claims about the programs of others was run against them. `./troupe test --real --record` runs
        it again and writes this page ([development.md](development.md#against-the-real-programs)). Another version
        than the one below may behave otherwise.

        | counterpart | version | last run | cases | failed | skipped | what was run |
        |---|---|---|---:|---:|---:|---|
        %s
        """
        .formatted(String.join("\n", rows));
  }
}
