package io.troupe.gym.session;

import io.troupe.gym.item.GymReport;
import io.troupe.gym.item.SkillSlice;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.loop.GymState;
import io.troupe.gym.loop.Split;
import io.troupe.gym.loop.TrialState;
import io.troupe.gym.loop.TrialState.Measured;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The performance of all trials as CSV, one line an iteration, split and skill; iteration 0 is the
 * base student.
 *
 * @param task name
 */
record GymHistory(GymPlan plan, String task) {
  private static final String HEAD =
      "arm,seed,iteration,split,task,skill,metric,value,count,stderr,data_total,tokens,cost\n";
  private static final double MICRO = 1e-6;

  String csv(GymState state) {
    StringBuilder csv = new StringBuilder(HEAD);
    for (int trial = 0; trial < state.trials().size(); trial++) {
      TrialState at = state.trials().get(trial);
      GymPlan.Planned planned = plan.trials().get(trial);
      for (Measured each : at.measured()) {
        add(csv, planned, at, Split.VALIDATION, each);
      }
      for (Measured each : at.tested()) {
        add(csv, planned, at, Split.TEST, each);
      }
    }
    return csv.toString();
  }

  private void add(
      StringBuilder csv,
      GymPlan.Planned planned,
      TrialState trial,
      Split split,
      Measured measured) {
    GymReport report = measured.report();
    int rows =
        trial.steps().stream()
            .filter(step -> step.iteration() <= measured.iteration())
            .mapToInt(TrialState.TrialStep::rows)
            .sum();
    List<SkillSlice> slices = new ArrayList<>(List.of(report.overall()));
    slices.addAll(report.skills());
    report.leaves().stream()
        .filter(leaf -> report.skill(leaf.name()).isEmpty())
        .forEach(slices::add);
    for (SkillSlice slice : slices) {
      csv.append(
          String.format(
              Locale.ROOT,
              "%s,%d,%d,%s,%s,%s,accuracy,%.6f,%d,%.6f,%d,%d,%.6f%n",
              planned.arm(),
              planned.seed(),
              measured.iteration(),
              split.name().toLowerCase(Locale.ROOT),
              task,
              slice.name(),
              slice.accuracy(),
              slice.count(),
              slice.standardError(),
              rows,
              measured.spend().tokens(),
              measured.spend().microDollars() * MICRO));
    }
  }
}
