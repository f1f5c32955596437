package io.troupe.gym.loop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All decisions of a gym, folded from its journal.
 *
 * @param trials as the plan has them
 * @param answers texts of the language model, by the key of their request
 * @param spend of all its calls
 */
public record GymState(List<TrialState> trials, Map<String, String> answers, Spend spend) {
  public GymState {
    trials = List.copyOf(trials);
    answers = Map.copyOf(answers);
  }

  /** A gym that has not begun. */
  public static GymState of(GymPlan plan) {
    return new GymState(
        plan.trials().stream().map(_ -> TrialState.NEW).toList(), Map.of(), Spend.NONE);
  }

  GymState with(int trial, TrialState state) {
    List<TrialState> all = new ArrayList<>(trials);
    all.set(trial, state);
    return new GymState(all, answers, spend);
  }

  GymState answered(String key, String text, Spend cost) {
    Map<String, String> more = new HashMap<>(answers);
    more.put(key, text);
    return new GymState(trials, more, spend.plus(cost));
  }
}
