package io.troupe.gym.loop;

import static io.troupe.core.Require.invariant;

import io.troupe.gym.item.GymReport;
import io.troupe.gym.item.SkillReward;
import io.troupe.gym.item.SkillSlice;
import io.troupe.gym.loop.GymEvent.BaseMade;
import io.troupe.gym.loop.GymEvent.Checked;
import io.troupe.gym.loop.GymEvent.Chosen;
import io.troupe.gym.loop.GymEvent.Diverged;
import io.troupe.gym.loop.GymEvent.Evaluated;
import io.troupe.gym.loop.GymEvent.ModelAnswered;
import io.troupe.gym.loop.GymEvent.Proposed;
import io.troupe.gym.loop.GymEvent.Rewarded;
import io.troupe.gym.loop.GymEvent.Skipped;
import io.troupe.gym.loop.GymEvent.Trained;
import io.troupe.gym.loop.GymEvent.TrialEnded;
import io.troupe.gym.loop.TrialState.Phase;
import io.troupe.gym.loop.TrialState.TrialStep;
import io.troupe.gym.skill.SkillTree;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The loop of a gym as pure functions: {@code next(state)} is the work to do, {@code decide(state,
 * outcome)} the events of its outcome, {@code evolve(state, event)} the state after one.
 *
 * <pre>
 *   make base → validate → propose → check → train → validate → … → choose → test → next trial
 * </pre>
 *
 * <p><b>Nothing twice.</b> A work is next exactly until its event is folded, and the events of one
 * outcome are one record of the journal. So a gym that ends anywhere and is resumed does no work
 * again whose outcome was journalled. Works write their files before the event and can be done
 * again, so that a crash between the two costs the work at most; a training that left a whole
 * folder is recognised by its digest and not made again.
 *
 * <p><b>Tests.</b> A test split is answered only after the best iteration is chosen.
 */
public final class GymLoop {
  private GymLoop() {}

  /** Returns the next work. */
  public static GymWork next(GymState state) {
    for (int trial = 0; trial < state.trials().size(); trial++) {
      TrialState at = state.trials().get(trial);
      if (at.phase() != Phase.ENDED) {
        return next(trial, at);
      }
    }
    return new GymWork.Finished();
  }

  private static GymWork next(int trial, TrialState at) {
    return switch (at.phase()) {
      case BASE -> new GymWork.MakeBase(trial);
      case VALIDATE -> new GymWork.Evaluate(trial, at.iteration(), Split.VALIDATION);
      case PROPOSE -> new GymWork.Propose(trial, at.iteration());
      case CHECK -> new GymWork.Check(trial, at.iteration());
      case TRAIN -> new GymWork.Train(trial, at.iteration());
      case TEST -> new GymWork.Evaluate(trial, at.toTest().get(at.tested().size()), Split.TEST);
      case ENDED -> new GymWork.Finished();
    };
  }

  /** Returns the events of the outcome of {@code next(state)}, for one record of the journal. */
  public static List<GymEvent> decide(GymPlan plan, GymState state, GymOutcome outcome) {
    GymWork work = next(state);
    List<GymEvent> events = new ArrayList<>();
    switch (outcome) {
      case GymOutcome.Made(String student) -> {
        invariant(work instanceof GymWork.MakeBase, "a base was made, but %s was next", work);
        events.add(new BaseMade(((GymWork.MakeBase) work).trial(), student));
      }
      case GymOutcome.Scored scored -> {
        invariant(work instanceof GymWork.Evaluate, "answers came, but %s was next", work);
        evaluated(plan, state, (GymWork.Evaluate) work, scored, events);
      }
      case GymOutcome.Rows rows -> {
        invariant(work instanceof GymWork.Propose, "rows came, but %s was next", work);
        GymWork.Propose at = (GymWork.Propose) work;
        events.add(
            new Proposed(
                at.trial(),
                at.iteration(),
                rows.actions(),
                rows.trees(),
                rows.rows(),
                rows.file()));
      }
      case GymOutcome.Judged judged -> {
        invariant(work instanceof GymWork.Check, "rows were checked, but %s was next", work);
        GymWork.Check at = (GymWork.Check) work;
        events.add(
            new Checked(
                at.trial(), at.iteration(), judged.kept(), judged.refused(), judged.file()));
        if (judged.kept().values().stream().allMatch(rows -> rows == 0)) {
          events.add(new Skipped(at.trial(), at.iteration()));
          if (at.iteration() == plan.iterations()) {
            events.add(new Chosen(at.trial(), state.trials().get(at.trial()).bestMeasured()));
          }
        }
      }
      case GymOutcome.Fitted fitted -> {
        invariant(work instanceof GymWork.Train, "a student came, but %s was next", work);
        GymWork.Train at = (GymWork.Train) work;
        events.add(
            new Trained(
                at.trial(), at.iteration(), fitted.student(), fitted.steps(), fitted.loss()));
      }
      case GymOutcome.NotFinite(String reason) -> {
        invariant(work instanceof GymWork.Train, "a training failed, but %s was next", work);
        GymWork.Train at = (GymWork.Train) work;
        events.add(new Diverged(at.trial(), at.iteration(), reason));
        events.add(new Chosen(at.trial(), state.trials().get(at.trial()).bestMeasured()));
      }
    }
    return events;
  }

  private static void evaluated(
      GymPlan plan,
      GymState state,
      GymWork.Evaluate work,
      GymOutcome.Scored scored,
      List<GymEvent> events) {
    TrialState trial = state.trials().get(work.trial());
    Evaluated event =
        new Evaluated(
            work.trial(), work.iteration(), work.split(), scored.report(), scored.answers());
    events.add(event);
    if (work.split() == Split.TEST) {
      if (trial.tested().size() + 1 == trial.toTest().size()) {
        events.add(new TrialEnded(work.trial(), "done"));
      }
      return;
    }
    if (work.iteration() == 0) {
      gateMissed(plan.gate(), scored.report())
          .ifPresent(reason -> events.add(new TrialEnded(work.trial(), reason)));
      return;
    }
    events.add(
        new Rewarded(
            work.trial(),
            work.iteration(),
            SkillReward.between(trial.measured().getLast().report(), scored.report())));
    if (work.iteration() == plan.iterations()) {
      events.add(
          new Chosen(work.trial(), evolve(state, event).trials().get(work.trial()).bestMeasured()));
    }
  }

  /** Returns why a base student does not pass the gate, if it does not. */
  static Optional<String> gateMissed(GymPlan.Gate gate, GymReport base) {
    if (gate.weak().isEmpty()) {
      return Optional.empty();
    }
    for (SkillSlice leaf : base.leaves()) {
      boolean weak = gate.weak().contains(leaf.name());
      double accuracy = leaf.accuracy();
      if (weak ? accuracy > gate.weakMost() : accuracy < gate.othersLeast()) {
        return Optional.of(
            String.format(
                Locale.ROOT,
                "gate missed: the base student's accuracy on %s is %.3f, and gate.%s is %s; train"
                    + " the base longer, or change the gate",
                leaf.name(),
                accuracy,
                weak ? "weak_most" : "others_least",
                weak ? gate.weakMost() : gate.othersLeast()));
      }
    }
    return Optional.empty();
  }

  /** Returns the state after an event. */
  public static GymState evolve(GymState state, GymEvent event) {
    return switch (event) {
      case ModelAnswered(String key, String text, Spend spend) -> state.answered(key, text, spend);
      case GymEvent.OfTrial of ->
          state.with(of.trial(), evolve(state.trials().get(of.trial()), of, state.spend()));
    };
  }

  private static TrialState evolve(TrialState trial, GymEvent.OfTrial event, Spend spend) {
    return switch (event) {
      case BaseMade _ -> trial.at(Phase.VALIDATE, 0);
      case Evaluated at when at.split() == Split.TEST ->
          trial.tested(at.iteration(), at.report(), spend);
      case Evaluated at -> trial.measured(at.report(), spend).at(Phase.PROPOSE, at.iteration() + 1);
      case Proposed at ->
          trial
              .with(at.trees())
              .stepped(new TrialStep(at.iteration(), at.actions(), Map.of(), Map.of(), List.of()))
              .at(Phase.CHECK, at.iteration());
      case Checked at ->
          trial
              .with(counted(trial.trees(), at.kept()))
              .stepped(
                  new TrialStep(
                      at.iteration(),
                      trial.steps().getLast().actions(),
                      at.kept(),
                      at.refused(),
                      List.of()))
              .at(Phase.TRAIN, at.iteration());
      case Skipped at -> trial.at(Phase.PROPOSE, at.iteration() + 1);
      case Trained at -> trial.at(Phase.VALIDATE, at.iteration());
      case Diverged _ -> trial;
      case Rewarded at -> {
        TrialStep step = trial.steps().getLast();
        yield trial.stepped(
            new TrialStep(
                step.iteration(), step.actions(), step.kept(), step.refused(), at.rewards()));
      }
      case Chosen at -> trial.chose(at.iteration()).at(Phase.TEST, trial.iteration());
      case TrialEnded at -> trial.ended(at.reason());
    };
  }

  private static List<SkillTree> counted(List<SkillTree> trees, Map<String, Integer> kept) {
    List<SkillTree> counted = new ArrayList<>();
    for (SkillTree tree : trees) {
      SkillTree with = tree;
      for (Map.Entry<String, Integer> each : kept.entrySet()) {
        String prefix = tree.skill() + "/";
        if (each.getKey().startsWith(prefix)) {
          with = with.generated(each.getKey().substring(prefix.length()), each.getValue());
        }
      }
      counted.add(with);
    }
    return counted;
  }
}
