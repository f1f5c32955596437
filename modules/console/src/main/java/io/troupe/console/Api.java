package io.troupe.console;

import io.troupe.console.http.ApiException;
import io.troupe.console.process.ActorRow;
import io.troupe.console.process.JvmReport;
import io.troupe.console.source.NodeFacts;
import io.troupe.console.source.RolloutTexts;
import io.troupe.console.source.RunSource;
import io.troupe.core.train.TokenMarks;
import io.troupe.telemetry.MetricCatalogue;
import io.troupe.telemetry.export.PrometheusText;
import io.troupe.telemetry.view.EventText;
import io.troupe.telemetry.view.GroupQuery;
import io.troupe.telemetry.view.GroupRow;
import io.troupe.telemetry.view.RunView;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * The readable parts of a run, by path under {@code /api/v1}. Reading changes nothing. The same
 * answers feed the page, the command line and other clients.
 */
final class Api {
  private static final int MAX_EVENTS = 5_000;
  private static final Duration REPORT_PATIENCE = Duration.ofSeconds(20);
  private static final long ALL_ROWS = -1;

  /** Fields of an explanation that a line of a step's list has. */
  private static final List<String> SUMMARY =
      List.of(
          "row",
          "group",
          "completion",
          "worker",
          "tokens",
          "reward",
          "advantage",
          "staleness_max",
          "tokens_with_loss_weight");

  /** Fields of an explanation that may be long, and are hidden with {@code console.hide_text}. */
  private static final List<String> TEXTS = List.of("prompt", "answer", "text", "verdict");

  /** One reply of the API. */
  private interface Read {
    Object answer(QueryString query) throws ApiException, IOException;
  }

  /**
   * A group with its texts and its events.
   *
   * @param tokenMarks by completion, of the step that trained on it; empty before, and in runs that
   *     did not write them down
   */
  record GroupPage(
      GroupRow group,
      boolean textHidden,
      List<RolloutTexts.Judged> samplings,
      List<TokenMarks> tokenMarks,
      List<EventText> events) {}

  /**
   * The facts by which the page draws itself.
   *
   * @param live whether verbs work
   */
  record About(
      String run, boolean live, boolean textHidden, List<MetricCatalogue.Metric> metrics) {}

  private final RunSource source;
  private final boolean hideText;
  private final LongSupplier clock;
  private final Map<String, Read> reads = new LinkedHashMap<>();

  Api(RunSource source, boolean hideText, LongSupplier clock) {
    this.source = source;
    this.hideText = hideText;
    this.clock = clock;
    reads.put("/about", _ -> about());
    reads.put("/run", _ -> run());
    reads.put("/rows", this::rows);
    reads.put("/marks", _ -> source.fold().marks());
    reads.put("/groups", this::groups);
    reads.put("/staleness", _ -> source.fold().staleness(clock.getAsLong()));
    reads.put("/weights", _ -> weights());
    reads.put("/nodes", _ -> NodeViews.of(source, reports(), clock.getAsLong()));
    reads.put("/actors", _ -> actors());
    reads.put("/verifiers", _ -> verifiers());
    reads.put("/waits", _ -> source.fold().waits(clock.getAsLong(), heldTurns()));
    reads.put("/events", this::events);
    reads.put("/provenance", _ -> source.provenance());
    reads.put("/explanation", this::explanation);
    reads.put("/prediction", query -> source.prediction().compare(query.number("begin", 1) != 0));
  }

  /** The paths that can be read, without those of single groups. */
  List<String> paths() {
    return List.copyOf(reads.keySet());
  }

  /**
   * Weights, who holds them, and how they came there.
   *
   * @param nodes the coordinator's knowledge of transfers; empty without a cluster
   */
  record Weights(
      long asOf,
      long version,
      List<RunView.Bar> published,
      List<RunView.WorkerRow> workers,
      List<NodeFacts> nodes) {}

  private Weights weights() {
    RunView.Weights seen = source.fold().weights(clock.getAsLong());
    return new Weights(
        seen.asOf(), seen.version(), seen.published(), seen.workers(), source.nodes());
  }

  RunView run() {
    return source.fold().view(clock.getAsLong());
  }

  /** Returns the answer of {@code /metrics}. */
  String prometheus() {
    RunView run = run();
    StringBuilder text = new StringBuilder(PrometheusText.of(run));
    source
        .certificateDays()
        .ifPresent(days -> text.append(PrometheusText.certificate(run.facts().run(), days)));
    return text.toString();
  }

  About about() {
    return new About(
        source.fold().view(clock.getAsLong()).facts().run(),
        source.live(),
        hideText,
        MetricCatalogue.metrics());
  }

  Object answer(String path, QueryString query) throws ApiException, IOException {
    Read read = reads.get(path);
    if (read != null) {
      return read.answer(query);
    }
    if (path.startsWith("/groups/")) {
      return group(path.substring("/groups/".length()));
    }
    throw new ApiException(404, "there is no /api/v1%s; see /api/v1/openapi.json".formatted(path));
  }

  /**
   * Returns the reports of all processes; each answers within its own deadline, so the limit here
   * is for defects only.
   */
  private List<JvmReport> reports() throws ApiException {
    return ProcessReplies.on(source.jvms().reports(), REPORT_PATIENCE);
  }

  private List<ActorRow> actors() throws ApiException {
    return source.live()
        ? reports().stream().flatMap(report -> report.actors().stream()).toList()
        : List.of();
  }

  private List<RunView.Wait> heldTurns() throws ApiException {
    if (!source.live()) {
      return List.of();
    }
    Map<String, JvmReport.TurnReport> held = new TreeMap<>();
    reports().stream()
        .flatMap(report -> report.heldTurns().stream())
        .forEach(turn -> held.merge(turn.on(), turn, JvmReport.TurnReport::and));
    return held.values().stream().map(Api::wait).toList();
  }

  private static RunView.Wait wait(JvmReport.TurnReport held) {
    String why = "it is the longest of %d turns that wait for it".formatted(held.turns());
    return new RunView.Wait(held.who(), held.on(), held.since(), why);
  }

  private List<JvmReport.VerifierReport> verifiers() throws ApiException {
    return source.live()
        ? reports().stream().flatMap(report -> report.verifiers().stream()).toList()
        : List.of();
  }

  private Object rows(QueryString query) throws ApiException {
    return source.fold().rows(query.number("after", 0));
  }

  private Object groups(QueryString query) throws ApiException {
    return source
        .fold()
        .groups(
            new GroupQuery(
                query.text("only", "all"),
                query.text("order", "newest"),
                Math.clamp(query.number("limit", 100), 1, GroupQuery.MAX_ROWS)));
  }

  private Object events(QueryString query) throws ApiException {
    return source
        .fold()
        .events(
            query.number("after", 0),
            Math.clamp(query.number("density", 1), 0, 2),
            Math.clamp(query.number("limit", 200), 1, MAX_EVENTS));
  }

  private Object group(String number) throws ApiException, IOException {
    long id;
    try {
      id = Long.parseLong(number.startsWith("g") ? number.substring(1) : number);
    } catch (NumberFormatException notOne) {
      throw new ApiException(400, "a group is a number such as 17, not '%s'".formatted(number));
    }
    GroupRow row =
        source
            .fold()
            .group(id)
            .orElseThrow(
                () ->
                    new ApiException(
                        404, "g%d is neither live nor among the last that ended".formatted(id)));
    RunView run = run();
    long oldest = usedBy(row, run) - run.facts().maxStaleness();
    return new GroupPage(
        row,
        hideText,
        hideText ? List.of() : source.texts().of(id, version -> version < oldest),
        tokenMarks(row),
        source.fold().eventsOf(id));
  }

  private Object explanation(QueryString query) throws ApiException, IOException {
    long step = query.number("step", 0);
    List<Map<String, Object>> rows = source.explanations().of(step);
    long row = query.number("row", ALL_ROWS);
    if (row == ALL_ROWS) {
      return rows.stream().map(life -> part(life, SUMMARY)).toList();
    }
    if (row < 0 || row >= rows.size()) {
      throw new ApiException(
          404, "row is from 0 to %d in step %d, not %d".formatted(rows.size() - 1, step, row));
    }
    Map<String, Object> life = new LinkedHashMap<>(rows.get((int) row));
    for (String name : TEXTS) {
      if (life.get(name) instanceof String text) {
        life.put(name, hideText ? "hidden" : RolloutTexts.Text.of(text));
      }
    }
    return life;
  }

  private static Map<String, Object> part(Map<String, Object> life, List<String> names) {
    Map<String, Object> part = new LinkedHashMap<>();
    names.forEach(name -> part.put(name, life.get(name)));
    return part;
  }

  /** The version of the step that used a group, or would use it now. */
  private static long usedBy(GroupRow row, RunView run) {
    if (row.step() > 0) {
      return row.step() - 1;
    }
    return row.staleness() < 0 ? run.version() : row.oldest() + row.staleness();
  }

  private List<TokenMarks> tokenMarks(GroupRow row) throws IOException {
    return row.stage().equals("trained")
        ? source.trainedTokens().of(row.step(), row.group(), row.fence(), row.completions().size())
        : List.of();
  }
}
