package io.troupe.gym.model;

import static io.troupe.core.Require.require;

import io.troupe.gym.loop.Spend;
import java.util.Locale;
import java.util.Optional;

/**
 * The most that a gym may spend on a language model; 0 sets no limit.
 *
 * @param calls in all
 * @param tokens of requests and answers
 * @param dollars in all
 */
public record ModelBudget(long calls, long tokens, double dollars) {
  public ModelBudget {
    require(
        calls >= 0 && tokens >= 0 && dollars >= 0,
        "model.most_calls, most_tokens and most_dollars are 0 or greater");
  }

  /**
   * Returns which limit a further call could exceed.
   *
   * @param most that the call can cost
   */
  Optional<String> objection(Spend spent, Spend most) {
    Spend then = spent.plus(most);
    if (calls > 0 && then.calls() > calls) {
      return Optional.of("model.most_calls is %d".formatted(calls));
    }
    if (tokens > 0 && then.tokens() > tokens) {
      return Optional.of(
          "model.most_tokens is %d, and %d are spent".formatted(tokens, spent.tokens()));
    }
    return dollars > 0 && then.microDollars() > dollars * 1e6
        ? Optional.of(
            String.format(
                Locale.ROOT,
                "model.most_dollars is %s, and %.4f are spent",
                dollars,
                spent.microDollars() * 1e-6))
        : Optional.empty();
  }
}
