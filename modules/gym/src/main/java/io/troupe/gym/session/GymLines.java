package io.troupe.gym.session;

import io.troupe.gym.item.GymReport;
import io.troupe.gym.item.SkillSlice;
import io.troupe.gym.loop.GymOutcome;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.loop.GymState;
import io.troupe.gym.loop.GymWork;
import java.util.Locale;
import java.util.stream.Collectors;

/** The line of a terminal for each work. */
final class GymLines {
  private GymLines() {}

  static String of(GymPlan plan, GymWork work, GymOutcome outcome, GymState state) {
    return switch (work) {
      case GymWork.MakeBase(int trial) ->
          "base student of seed %d is made".formatted(plan.trials().get(trial).seed());
      case GymWork.Evaluate at ->
          head(plan, at.trial(), at.iteration())
              + at.split().name().toLowerCase(Locale.ROOT)
              + " "
              + accuracies(((GymOutcome.Scored) outcome).report())
              + ended(state, at.trial());
      case GymWork.Propose(int trial, int iteration) ->
          head(plan, trial, iteration) + ((GymOutcome.Rows) outcome).rows() + " rows proposed";
      case GymWork.Check(int trial, int iteration) ->
          head(plan, trial, iteration) + checked((GymOutcome.Judged) outcome);
      case GymWork.Train(int trial, int iteration) ->
          head(plan, trial, iteration) + trained(outcome);
      case GymWork.Finished() -> "done";
    };
  }

  private static String head(GymPlan plan, int trial, int iteration) {
    GymPlan.Planned planned = plan.trials().get(trial);
    return "trial %d/%d %s seed %d, iteration %d: "
        .formatted(trial + 1, plan.trials().size(), planned.arm(), planned.seed(), iteration);
  }

  private static String accuracies(GymReport report) {
    return report.leaves().stream()
            .map(GymLines::accuracy)
            .collect(Collectors.joining(" ", "", " "))
        + accuracy(report.overall());
  }

  private static String accuracy(SkillSlice slice) {
    return String.format(Locale.ROOT, "%s=%.3f", slice.name(), slice.accuracy());
  }

  private static String checked(GymOutcome.Judged judged) {
    int kept = judged.kept().values().stream().mapToInt(Integer::intValue).sum();
    return "%d rows kept %s, refused %s".formatted(kept, judged.kept(), judged.refused());
  }

  private static String trained(GymOutcome outcome) {
    return switch (outcome) {
      case GymOutcome.Fitted(String _, int steps, double loss) ->
          String.format(Locale.ROOT, "trained, %d steps, last loss %.4f", steps, loss);
      case GymOutcome.NotFinite(String reason) ->
          "the training diverged (%s); the best student so far is kept".formatted(reason);
      default -> throw new IllegalStateException("no outcome of a training: " + outcome);
    };
  }

  private static String ended(GymState state, int trial) {
    String reason = state.trials().get(trial).ended();
    return reason.isEmpty() || reason.equals("done") ? "" : "; the trial ends: " + reason;
  }
}
