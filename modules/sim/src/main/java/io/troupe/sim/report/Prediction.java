package io.troupe.sim.report;

import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.sim.model.Scenario;
import io.troupe.sim.model.SimulationResult;
import io.troupe.sim.model.SimulationResult.Bound;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The results of the simulated runs of a scenario.
 *
 * @param results one a seed
 * @param notes limits of the predictions' worth, a sentence each
 */
public record Prediction(Scenario scenario, List<SimulationResult> results, List<String> notes) {
  private static final double HOUR = 3600;

  public Prediction {
    results = List.copyOf(results);
    notes = List.copyOf(notes);
  }

  /** Steps a second. */
  public Band stepsPerSecond() {
    return Band.of(results, result -> result.pace().stepsPerSecond());
  }

  /** Mean staleness of the tokens that are trained on. */
  public Band staleness() {
    return Band.of(results, result -> result.staleness().mean());
  }

  /** Share of the steps' tokens that are too stale. */
  public Band masked() {
    return Band.of(results, result -> result.staleness().masked());
  }

  /** Share of the time in which the trainer computes. */
  public Band trainer() {
    return Band.of(results, result -> result.utilisation().trainer());
  }

  /** Share of the time in which a worker decodes. */
  public Band workers() {
    return Band.of(results, result -> result.utilisation().workers());
  }

  /** Seconds to the scenario's last step; extrapolated where the simulation was cut off. */
  public Band secondsToSteps() {
    return Band.of(results, this::secondsToSteps);
  }

  private double secondsToSteps(SimulationResult result) {
    long left = scenario.limits().schedule().steps() - result.pace().steps();
    return result.pace().lastStepSeconds() + left / result.pace().stepsPerSecond();
  }

  /** Whether every run kept its promises. */
  public boolean sound() {
    return results.stream().allMatch(result -> result.audit().sound());
  }

  /** Returns all numbers, by name. */
  public Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("source", scenario.model().origin().source());
    json.put("seeds", results.size());
    json.put("seconds", band(Band.of(results, SimulationResult::seconds)));
    json.put("steps", band(Band.of(results, result -> result.pace().steps())));
    json.put("steps_per_second", band(stepsPerSecond()));
    json.put("seconds_to_steps", band(secondsToSteps()));
    json.put(
        "sampled_tokens_per_second",
        band(Band.of(results, result -> result.pace().sampledTokensPerSecond())));
    json.put(
        "trained_tokens_per_second",
        band(Band.of(results, result -> result.pace().trainedTokensPerSecond())));
    json.put("staleness_mean", band(staleness()));
    json.put("staleness_shares", shares());
    json.put("masked_share", band(masked()));
    json.put("trainer_busy", band(trainer()));
    json.put("workers_busy", band(workers()));
    json.put("rows_used", band(Band.of(results, result -> result.utilisation().rows())));
    json.put("verifiers_busy", band(Band.of(results, result -> result.utilisation().verifiers())));
    json.put("buffered", band(Band.of(results, result -> result.utilisation().buffered())));
    json.put("leased", band(Band.of(results, result -> result.utilisation().leased())));
    json.put("held_back_by", bounds());
    json.put("audit_sound", sound());
    json.put("notes", notes);
    return json;
  }

  private static Map<String, Double> band(Band band) {
    Map<String, Double> json = new LinkedHashMap<>();
    json.put("mean", finite(band.mean()));
    json.put("low", finite(band.low()));
    json.put("high", finite(band.high()));
    return json;
  }

  /** JSON has no NaN: a rate of fewer than two steps is -1. */
  private static double finite(double value) {
    return Double.isFinite(value) ? value : -1;
  }

  private List<Double> shares() {
    List<Double> shares = new ArrayList<>();
    for (int i = 0; i < results.getFirst().staleness().shares().length; i++) {
      int bin = i;
      shares.add(Band.of(results, result -> result.staleness().shares()[bin]).mean());
    }
    return shares;
  }

  private Map<String, Double> bounds() {
    Map<String, Double> shares = new LinkedHashMap<>();
    for (Bound bound : Bound.values()) {
      shares.put(
          bound.name().toLowerCase(Locale.ROOT),
          Band.of(results, result -> result.utilisation().bounds().getOrDefault(bound, 0.0))
              .mean());
    }
    return shares;
  }

  /** Returns the prediction as lines for a person. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("model           " + scenario.model().origin().source());
    lines.add(
        "simulated       %d runs of %s of virtual time"
            .formatted(results.size(), time(Band.of(results, SimulationResult::seconds).mean())));
    lines.add("steps/s         " + range("%.4g", stepsPerSecond()));
    lines.add(
        "time to steps   %s to %,d (%s to %s)"
            .formatted(
                time(secondsToSteps().mean()),
                scenario.limits().schedule().steps(),
                time(secondsToSteps().low()),
                time(secondsToSteps().high())));
    lines.add(
        "tokens/s        %s sampled, %s trained on"
            .formatted(
                range("%,.0f", Band.of(results, r -> r.pace().sampledTokensPerSecond())),
                range("%,.0f", Band.of(results, r -> r.pace().trainedTokensPerSecond()))));
    lines.add(
        "staleness       mean %s; of the tokens %s"
            .formatted(range("%.3g", staleness()), stalenessText()));
    lines.add("masked          " + percent(masked()) + " of the tokens of steps");
    lines.add("trainer         busy " + percent(trainer()));
    lines.add(
        "workers         busy %s, %s of their batches in use"
            .formatted(percent(workers()), percent(Band.of(results, r -> r.utilisation().rows()))));
    lines.add(
        "verifiers       busy " + percent(Band.of(results, r -> r.utilisation().verifiers())));
    lines.add(
        "groups          %s under lease, %s buffered"
            .formatted(
                range("%.1f", Band.of(results, r -> r.utilisation().leased())),
                range("%.1f", Band.of(results, r -> r.utilisation().buffered()))));
    lines.add("idle            " + idle());
    lines.add("audit           " + (sound() ? "all promises kept" : "PROMISES BROKEN"));
    ended().forEach(end -> lines.add("ended           " + end));
    notes.forEach(note -> lines.add("note            " + note));
    return lines;
  }

  private List<String> ended() {
    return results.stream()
        .map(result -> result.state().phase())
        .filter(
            phase -> phase instanceof Phase.Ended(RunEnd end) && !(end instanceof RunEnd.Completed))
        .map(Object::toString)
        .distinct()
        .toList();
  }

  private String stalenessText() {
    List<String> parts = new ArrayList<>();
    List<Double> shares = shares();
    for (int i = 0; i < shares.size(); i++) {
      parts.add("%d: %.0f %%".formatted(i, shares.get(i) * 100));
    }
    return String.join(", ", parts);
  }

  private String idle() {
    int workers = scenario.shape().workers();
    int ranks = scenario.shape().trainerRanks();
    List<String> reasons = new ArrayList<>();
    bounds()
        .forEach(
            (name, share) -> {
              if (share >= 0.01 && !name.equals("rollout") && !name.equals("none")) {
                reasons.add("%s %.0f %% of the time".formatted(reason(name), share * 100));
              }
            });
    return "%.1f of %,d workers and %.1f of %,d trainer ranks; workers got no more groups because of %s"
        .formatted(
            workers * (1 - workers().mean()),
            workers,
            ranks * (1 - trainer().mean()),
            ranks,
            reasons.isEmpty() ? "nothing" : String.join(", ", reasons));
  }

  private static String reason(String bound) {
    return switch (bound) {
      case "admission" -> "training.max_staleness and groups_per_step";
      case "concurrency" -> "rollout.max_concurrent_groups";
      case "lock_step" -> "lock-step";
      case "outage" -> "an outage";
      default -> "the end of the run";
    };
  }

  private static String range(String format, Band band) {
    return (format + " (" + format + " to " + format + ")")
        .formatted(band.mean(), band.low(), band.high());
  }

  private static String percent(Band band) {
    return "%.1f %% (%.1f to %.1f)"
        .formatted(band.mean() * 100, band.low() * 100, band.high() * 100);
  }

  /** A duration in the unit that suits it. */
  static String time(double seconds) {
    if (!Double.isFinite(seconds)) {
      return "unknown";
    }
    return seconds < 120
        ? "%.3g s".formatted(seconds)
        : seconds < 2 * HOUR
            ? "%.1f min".formatted(seconds / 60)
            : "%.1f h".formatted(seconds / HOUR);
  }
}
