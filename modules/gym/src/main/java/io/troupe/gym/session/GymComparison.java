package io.troupe.gym.session;

import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.SkillSlice;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.loop.GymState;
import io.troupe.gym.loop.Split;
import io.troupe.gym.loop.TrialState;
import io.troupe.gym.loop.TrialState.Measured;
import io.troupe.gym.loop.TrialState.TrialStep;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The report of a gym as text: what each arm's last student answers on test, by skill, and how far
 * each is from the last arm with the name {@code uniform}, paired item by item.
 *
 * @param items of the test split
 */
public record GymComparison(GymPlan plan, GymFolder folder, List<GymItem> items, GymState state) {
  private static final String REFERENCE = "uniform";

  /**
   * The mean of paired differences.
   *
   * @param standardError of the mean, over items of all seeds
   */
  record Paired(double mean, double standardError, int items, List<Double> bySeed) {}

  /** Returns the report. */
  public String text() throws IOException {
    StringBuilder text = new StringBuilder();
    List<String> leaves = leaves();
    text.append("Test accuracy of the last iteration's student, mean over seeds:\n\n");
    row(text, "arm", "rows", leaves, "all");
    baseRow(text, leaves);
    for (String arm : arms()) {
      List<TrialState> done = tested(arm);
      if (!done.isEmpty()) {
        row(
            text,
            arm,
            Integer.toString((int) done.stream().mapToInt(TrialState::rows).average().orElse(0)),
            leaves.stream().map(leaf -> mean(done, leaf)).toList(),
            mean(done, ""));
      }
    }
    differences(text, leaves);
    refusals(text);
    unfinished(text);
    text.append(
        String.format(
            Locale.ROOT,
            "%nModel calls: %d, %d tokens, $%.4f.%n",
            state.spend().calls(),
            state.spend().tokens(),
            state.spend().microDollars() * 1e-6));
    return text.toString();
  }

  private static void row(
      StringBuilder text, String head, String rows, List<String> cells, String last) {
    text.append(String.format(Locale.ROOT, "%-14s %6s", head, rows));
    cells.forEach(cell -> text.append(String.format(Locale.ROOT, " %14s", cell)));
    text.append(String.format(Locale.ROOT, " %8s%n", last));
  }

  private void baseRow(StringBuilder text, List<String> leaves) {
    List<Measured> bases = new ArrayList<>();
    for (int trial = 0; trial < state.trials().size(); trial++) {
      boolean first = plan.trials().get(trial).arm().equals(arms().getFirst());
      if (first && !state.trials().get(trial).tested().isEmpty()) {
        bases.add(state.trials().get(trial).tested().getFirst());
      }
    }
    if (!bases.isEmpty()) {
      row(
          text,
          "(base)",
          "0",
          leaves.stream().map(leaf -> meanOf(bases, leaf)).toList(),
          meanOf(bases, ""));
    }
  }

  private void differences(StringBuilder text, List<String> leaves) throws IOException {
    if (tested(REFERENCE).isEmpty()) {
      return;
    }
    text.append(
        "\nDifference from uniform on the same items, points ± standard error over items (by"
            + " seed):\n\n");
    for (String arm : arms()) {
      if (arm.equals(REFERENCE)) {
        continue;
      }
      for (String leaf : leaves) {
        Optional<Paired> paired = paired(arm, leaf);
        paired.ifPresent(
            each ->
                text.append(
                    String.format(
                        Locale.ROOT,
                        "%-14s %-16s %+6.1f ± %.1f   n=%d   (%s)%n",
                        arm,
                        leaf,
                        100 * each.mean(),
                        100 * each.standardError(),
                        each.items(),
                        each.bySeed().stream()
                            .map(mean -> String.format(Locale.ROOT, "%+.1f", 100 * mean))
                            .collect(Collectors.joining(", ")))));
      }
    }
  }

  /** The paired differences of an arm from the reference on one leaf, over all seeds of both. */
  Optional<Paired> paired(String arm, String leaf) throws IOException {
    List<Double> all = new ArrayList<>();
    List<Double> bySeed = new ArrayList<>();
    for (long seed : new TreeSet<>(plan.trials().stream().map(GymPlan.Planned::seed).toList())) {
      Optional<List<AnsweredItem>> own = lastAnswers(arm, seed);
      Optional<List<AnsweredItem>> other = lastAnswers(REFERENCE, seed);
      if (own.isPresent() && other.isPresent()) {
        List<Double> of = new ArrayList<>();
        for (int i = 0; i < own.get().size(); i++) {
          if (own.get().get(i).item().leaf().equals(leaf)) {
            of.add(
                (own.get().get(i).correct() ? 1.0 : 0) - (other.get().get(i).correct() ? 1.0 : 0));
          }
        }
        bySeed.add(of.stream().mapToDouble(Double::doubleValue).average().orElse(0));
        all.addAll(of);
      }
    }
    if (all.size() < 2) {
      return Optional.empty();
    }
    double mean = all.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
    double squares = all.stream().mapToDouble(each -> (each - mean) * (each - mean)).sum();
    double error = Math.sqrt(squares / (all.size() - 1) / all.size());
    return Optional.of(new Paired(mean, error, all.size(), bySeed));
  }

  private Optional<List<AnsweredItem>> lastAnswers(String arm, long seed) throws IOException {
    for (int trial = 0; trial < plan.trials().size(); trial++) {
      GymPlan.Planned planned = plan.trials().get(trial);
      TrialState at = state.trials().get(trial);
      if (planned.arm().equals(arm) && planned.seed() == seed && at.ended().equals("done")) {
        return Optional.of(
            GymFolder.readAnswers(
                folder.iteration(trial, planned, at.tested().getLast().iteration()),
                Split.TEST,
                items));
      }
    }
    return Optional.empty();
  }

  private void refusals(StringBuilder text) {
    text.append("\nRows made and refused:\n\n");
    for (String arm : arms()) {
      Map<String, Integer> refused = new TreeMap<>();
      int kept = 0;
      for (TrialState trial : of(arm)) {
        for (TrialStep step : trial.steps()) {
          kept += step.rows();
          step.refused().forEach((reason, rows) -> refused.merge(reason, rows, Integer::sum));
        }
      }
      text.append(String.format(Locale.ROOT, "%-14s %d kept, refused %s%n", arm, kept, refused));
    }
  }

  private void unfinished(StringBuilder text) {
    for (int trial = 0; trial < plan.trials().size(); trial++) {
      String ended = state.trials().get(trial).ended();
      if (!ended.equals("done")) {
        text.append(
            "%ntrial %d, %s seed %d: %s%n"
                .formatted(
                    trial + 1,
                    plan.trials().get(trial).arm(),
                    plan.trials().get(trial).seed(),
                    ended.isEmpty() ? "has not ended" : ended));
      }
    }
  }

  /** The arms in the order of the plan. */
  List<String> arms() {
    return plan.trials().stream().map(GymPlan.Planned::arm).distinct().toList();
  }

  List<TrialState> of(String arm) {
    List<TrialState> trials = new ArrayList<>();
    for (int trial = 0; trial < plan.trials().size(); trial++) {
      if (plan.trials().get(trial).arm().equals(arm)) {
        trials.add(state.trials().get(trial));
      }
    }
    return trials;
  }

  private List<TrialState> tested(String arm) {
    return of(arm).stream().filter(each -> each.ended().equals("done")).toList();
  }

  List<String> leaves() {
    Map<String, Boolean> leaves = new LinkedHashMap<>();
    items.forEach(item -> leaves.put(item.leaf(), true));
    return List.copyOf(leaves.keySet());
  }

  private static String mean(List<TrialState> trials, String leaf) {
    return meanOf(trials.stream().map(each -> each.tested().getLast()).toList(), leaf);
  }

  private static String meanOf(List<Measured> reports, String leaf) {
    double mean =
        reports.stream()
            .map(
                each ->
                    leaf.isEmpty()
                        ? Optional.of(each.report().overall())
                        : each.report().leaf(leaf))
            .flatMap(Optional::stream)
            .mapToDouble(SkillSlice::accuracy)
            .average()
            .orElse(Double.NaN);
    return String.format(Locale.ROOT, "%.3f", mean);
  }
}
