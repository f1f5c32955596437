package io.troupe.run.session;

import io.troupe.core.reward.Verdict;
import io.troupe.environments.harbor.HarborReward;
import io.troupe.telemetry.view.LossReasons;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Counts completions whose tests left no file with a reward. Each is worth 0, and a task folder
 * whose tests write none looks like one that is never solved.
 */
final class UnwrittenRewards {
  private long unwritten;
  private long judged;

  /** Counts; returns a sentence at the first, the tenth, the hundredth … of them. */
  Optional<String> judged(List<Verdict> verdicts) {
    boolean said = false;
    for (Verdict verdict : verdicts) {
      judged++;
      if (verdict instanceof Verdict.Scored scored
          && scored.reason().contains(HarborReward.NOT_WRITTEN)) {
        unwritten++;
        said |= unwritten == 1 || LossReasons.isPowerOfTen(unwritten);
      }
    }
    return said ? sentence() : Optional.empty();
  }

  /** The counts; nothing if every reward was written. */
  Optional<String> sentence() {
    return unwritten == 0
        ? Optional.empty()
        : Optional.of(
            String.format(
                Locale.ROOT,
                "%,d of %,d completions have a reward of 0 because the task's tests left no"
                    + " reward file; if no group of a task is ever right, look at its tests/test.sh",
                unwritten,
                judged));
  }
}
