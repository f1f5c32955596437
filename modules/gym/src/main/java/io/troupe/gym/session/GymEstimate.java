package io.troupe.gym.session;

import io.troupe.gym.config.GymConfig;
import io.troupe.gym.config.GymTaskSection;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.loop.GymPlan;

/**
 * The most work that a gym will do, counted without doing any of it.
 *
 * @param config of the gym
 * @param task items of the gym
 */
public record GymEstimate(GymConfig config, GymTask task) {
  private static final int TESTED = 3;
  private static final int ROWS_OF_A_CALL = 10;
  private static final int DISCOVERY = 3;

  /** Returns the counts as text. */
  public String text() {
    GymPlan plan = config.plan();
    int trials = plan.trials().size();
    long rows = (long) trials * plan.iterations() * config.trials().rows();
    long answers =
        (long) trials
            * ((long) (plan.iterations() + 1) * task.validation().size()
                + (long) TESTED * task.test().size());
    long tries = rows * config.quality().tries();
    return ("%d trials (%d seeds, %d arms), %d iterations of at most %d new rows each%n"
            + "at most %,d rows made, %d trainings, %,d answers to %d validation and %d test items%n"
            + "at most %,d tries of students at rows%n"
            + "%s")
        .formatted(
            trials,
            config.trials().seeds().size(),
            config.trials().arms().size(),
            plan.iterations(),
            config.trials().rows(),
            rows,
            trials * plan.iterations() + config.trials().seeds().size(),
            answers,
            task.validation().size(),
            task.test().size(),
            tries,
            calls(plan, rows));
  }

  /** Questions for rows, a tenth or more of them, tries at each row, and a repair of each. */
  private String calls(GymPlan plan, long rows) {
    if (!config.model().writes()) {
      return "0 calls of a language model, 0 tokens: a script makes the rows";
    }
    long leaves = task.validation().stream().map(GymItem::leaf).distinct().count();
    long discovered =
        config.task() instanceof GymTaskSection.Datasets section && section.discovers()
            ? DISCOVERY * 2L * (task.validation().size() + task.test().size()) + DISCOVERY
            : 0;
    long asked = (long) plan.trials().size() * plan.iterations() * leaves + rows / ROWS_OF_A_CALL;
    long calls = 2 * (discovered + asked + rows * config.quality().solves());
    return "at most %,d calls of a language model, %,d tokens of answers; model.most_calls is %,d, most_tokens %,d, most_dollars %s"
        .formatted(
            calls,
            calls * config.model().maxTokens(),
            config.model().mostCalls(),
            config.model().mostTokens(),
            config.model().mostDollars());
  }
}
