package io.troupe.telemetry.export;

import io.troupe.telemetry.MetricCatalogue;
import io.troupe.telemetry.view.RunView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** A run in Prometheus' text format, and the catalogue of what is in it. */
public final class PrometheusText {
  /** The media type of {@link #of}. */
  public static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  /**
   * One metric.
   *
   * @param type gauge or counter
   * @param reading meaning of a high value
   */
  public record Metric(
      String name,
      String type,
      String unit,
      String meaning,
      String reading,
      ToDoubleFunction<RunView> value) {}

  private static final String STEP = "troupe_step_";
  private static final String CERTIFICATE = "troupe_certificate_days_left";

  private static final List<Metric> METRICS =
      List.of(
          counter(
              "troupe_weight_version",
              "versions",
              "steps that moved the weights since the run began",
              "grows: the run learns; stands still: look at troupe_stage_share",
              RunView::version),
          gauge(
              "troupe_running",
              "0 or 1",
              "whether the run is under way",
              "0: it starts, drains or is over",
              view -> view.phase().equals("running") ? 1 : 0),
          gauge(
              "troupe_paused",
              "0 or 1",
              "whether an operator has paused admission",
              "1: nothing new is admitted until it is resumed",
              view -> view.paused() ? 1 : 0),
          gauge(
              "troupe_groups_per_minute",
              "groups/min",
              "groups scored, over the last minute",
              "high: rollouts and verification are fast",
              RunView::groupsPerMinute),
          gauge(
              "troupe_groups_leased",
              "groups",
              "groups under lease: being sampled or judged",
              "at the concurrency limit: workers are the bottleneck",
              view -> view.accounting().leased()),
          gauge(
              "troupe_groups_buffered",
              "groups",
              "scored groups that wait for a step",
              "high: the trainer is the bottleneck",
              view -> view.accounting().buffered()),
          gauge(
              "troupe_groups_waiting",
              "groups",
              "groups that wait to be sampled again",
              "high: leases end badly",
              view -> view.accounting().waiting()),
          counter(
              "troupe_groups_admitted_total",
              "groups",
              "prompts that became groups",
              "grows with throughput",
              view -> view.accounting().ledger().admitted()),
          counter(
              "troupe_groups_trained_total",
              "groups",
              "groups trained on",
              "grows with throughput",
              view -> view.accounting().ledger().trained()),
          counter(
              "troupe_groups_reused_total",
              "groups",
              "uses of the groups trained on beyond the first of each (training.group_uses)",
              "far below group_uses − 1 beside trained: groups become stale before their last use",
              view -> view.accounting().ledger().reused()),
          counter(
              "troupe_groups_filtered_total",
              "groups",
              "degenerate groups put aside",
              "fast beside trained: prompts too easy or too hard",
              view -> view.accounting().ledger().filtered()),
          counter(
              "troupe_groups_failed_total",
              "groups",
              "groups given up after too many attempts, or cancelled",
              "above 0: look at the group's events",
              view -> view.accounting().ledger().failed()),
          counter(
              "troupe_groups_stale_total",
              "groups",
              "leases whose answer was too stale",
              "fast: rollouts are too slow for the bound",
              view -> view.accounting().ledger().stale()),
          counter(
              "troupe_leases_expired_total",
              "leases",
              "leases that ran out",
              "above 0: a worker hangs, or rollout.lease_timeout is short",
              view -> view.accounting().ledger().expired()),
          counter(
              "troupe_leases_lost_total",
              "leases",
              "leases whose worker was lost",
              "above 0: workers die",
              view -> view.accounting().ledger().lost()),
          counter(
              "troupe_leases_failed_total",
              "leases",
              "leases whose prompt or completions could not be done",
              "above 0: look at the reasons in the events",
              view -> view.accounting().ledger().failures()),
          counter(
              "troupe_leases_outages_total",
              "leases",
              "leases that an engine, an agent or an environment failed, or that no verifier was there for",
              "above 0: look at the errors of engines, agents and verifiers",
              view -> view.accounting().ledger().outages()),
          gauge(
              "troupe_troubles",
              "places",
              "suspended workers, verifiers that are away, traces whose disk does not keep up, a"
                  + " copy that is not stored, and trackers that are behind",
              "above 0: troupe status says what is out of order, and since when",
              view -> view.troubles().size()),
          counter(
              "troupe_trace_lines_refused_total",
              "lines",
              "lines of the traces that found no room in memory, since this process began",
              "above 0: the disk of traces/ stalled",
              RunView::traceLinesRefused),
          gauge(
              "troupe_copy_behind_bytes",
              "bytes",
              "bytes of the run folder that its copy (`run.sync`) lacks; 0 without a copy",
              "grows: the link or run.sync_bandwidth is too slow",
              view -> view.copy().bytes()),
          gauge(
              "troupe_copy_age_seconds",
              "s",
              "time since the run's copy was last complete; 0 when it is",
              "above some minutes: that much is lost with this machine; troupe status says why",
              view -> view.copy().ageSeconds(view.asOf())),
          counter(
              "troupe_answers_refused_total",
              "answers",
              "answers refused because their lease had ended",
              "above 0: a worker that was given up came back late",
              view -> view.accounting().ledger().refused()),
          gauge(
              "troupe_books_balanced",
              "0 or 1",
              "whether every group is accounted for exactly once",
              "0 is a defect of Troupe: report it",
              view -> view.balanced() ? 1 : 0),
          gauge(
              "troupe_event_age_seconds",
              "s",
              "time since the last event",
              "high while running: everything waits; ask `troupe waits`",
              view -> (view.asOf() - view.lastEventAt()) / 1000.0));

  private PrometheusText() {}

  /** Returns the metric of a coordinator's certificate, beside {@link #of}. */
  public static String certificate(String run, long daysLeft) {
    List<String> lines = new ArrayList<>();
    head(lines, CERTIFICATE, "gauge", "whole days until this host's certificate ends");
    lines.add("%s{run=\"%s\"} %d".formatted(CERTIFICATE, escape(run), daysLeft));
    return String.join("\n", lines) + "\n";
  }

  /** The exposition of a run. */
  public static String of(RunView view) {
    String labels = "{run=\"%s\"}".formatted(escape(view.facts().run()));
    List<String> lines = new ArrayList<>();
    for (Metric metric : METRICS) {
      head(lines, metric.name(), metric.type(), metric.meaning());
      lines.add(metric.name() + labels + " " + number(metric.value().applyAsDouble(view)));
    }
    head(lines, "troupe_stage_share", "gauge", "share of the last minute a stage spent so");
    for (RunView.Stage stage : view.stages()) {
      for (RunView.Share share : stage.shares()) {
        lines.add(
            "troupe_stage_share{run=\"%s\",stage=\"%s\",doing=\"%s\"} %s"
                .formatted(
                    escape(view.facts().run()), stage.name(), share.word(), number(share.share())));
      }
    }
    Map<String, Object> step = view.headline();
    for (MetricCatalogue.Metric metric : MetricCatalogue.metrics()) {
      if (step.get(metric.name()) instanceof Number value) {
        head(lines, STEP + metric.name(), "gauge", metric.meaning());
        lines.add(STEP + metric.name() + labels + " " + number(value.doubleValue()));
      }
    }
    return String.join("\n", lines) + "\n";
  }

  /** The section of docs/metrics.md. */
  public static String markdown() {
    List<String> lines = new ArrayList<>();
    lines.add("# Prometheus");
    lines.add("");
    lines.add(
        "`/metrics` of the console, label `run`. Besides these: `troupe_stage_share{stage,doing}`,"
            + " the share of the last minute that a stage was busy, idle or held back (the shares"
            + " of a stage add up to 1; high `held back` means that something downstream is the"
            + " bottleneck), and `troupe_step_NAME` for every number above, of the newest step;"
            + " and, of a head with keys, `troupe_certificate_days_left`: whole days until its"
            + " certificate ends, below 0 once it has.");
    lines.add("");
    lines.add("| name | type | unit | meaning | high means |");
    lines.add("|---|---|---|---|---|");
    for (Metric metric : METRICS) {
      lines.add(
          "| `%s` | %s | %s | %s | %s |"
              .formatted(
                  metric.name(), metric.type(), metric.unit(), metric.meaning(), metric.reading()));
    }
    return String.join("\n", lines) + "\n";
  }

  private static Metric gauge(
      String name, String unit, String meaning, String reading, ToDoubleFunction<RunView> value) {
    return new Metric(name, "gauge", unit, meaning, reading, value);
  }

  private static Metric counter(
      String name, String unit, String meaning, String reading, ToDoubleFunction<RunView> value) {
    return new Metric(name, "counter", unit, meaning, reading, value);
  }

  private static void head(List<String> lines, String name, String type, String meaning) {
    lines.add("# HELP " + name + " " + meaning.replace("\\", "\\\\").replace("\n", " "));
    lines.add("# TYPE " + name + " " + type);
  }

  private static String number(double value) {
    return Double.isNaN(value)
        ? "NaN"
        : Double.isInfinite(value) ? (value > 0 ? "+Inf" : "-Inf") : Double.toString(value);
  }

  private static String escape(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
