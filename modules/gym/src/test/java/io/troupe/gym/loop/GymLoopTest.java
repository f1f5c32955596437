package io.troupe.gym.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.SplitMix64;
import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.GymReport;
import io.troupe.gym.loop.GymPlan.Gate;
import io.troupe.gym.loop.GymPlan.Planned;
import io.troupe.gym.skill.SkillTree;
import io.troupe.gym.skill.Subskill;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GymLoopTest {
  private static final GymPlan PLAN =
      new GymPlan(List.of(new Planned("one", 1), new Planned("two", 1)), 3, Gate.NONE);

  /** A shell whose works and model calls are counted; every work has an outcome of its seed. */
  private static final class Shell {
    private final long seed;
    private final Map<String, Integer> done = new HashMap<>();
    private final List<GymEvent> journal = new ArrayList<>();

    Shell(long seed) {
      this.seed = seed;
    }

    /** Works until the end, or until the journal has a number of records more. */
    boolean run(int records) {
      GymState state = GymState.of(PLAN);
      for (GymEvent event : journal) {
        state = GymLoop.evolve(state, event);
      }
      for (int written = 0; written < records; written++) {
        GymWork work = GymLoop.next(state);
        if (work instanceof GymWork.Finished) {
          return true;
        }
        List<GymEvent> events = new ArrayList<>();
        if (work instanceof GymWork.Propose && !state.answers().containsKey("key of " + work)) {
          count("call of " + work);
          events.add(new GymEvent.ModelAnswered("key of " + work, "text", new Spend(1, 10, 5, 7)));
        } else {
          count(work.toString());
          events.addAll(GymLoop.decide(PLAN, state, outcome(work)));
        }
        for (GymEvent event : events) {
          journal.add(event);
          state = GymLoop.evolve(state, event);
        }
      }
      return GymLoop.next(state) instanceof GymWork.Finished;
    }

    private void count(String what) {
      done.merge(what, 1, Integer::sum);
    }

    private GymOutcome outcome(GymWork work) {
      long draw = Math.floorMod(SplitMix64.mix(seed * 31 + work.toString().hashCode()), 10);
      return switch (work) {
        case GymWork.MakeBase _ -> new GymOutcome.Made("base");
        case GymWork.Evaluate _ -> new GymOutcome.Scored(report((int) draw), "answers");
        case GymWork.Propose _ -> new GymOutcome.Rows(Map.of(), TREES, 4, "rows");
        case GymWork.Check _ ->
            new GymOutcome.Judged(
                draw < 3 ? Map.of() : Map.of("sub/borrow", 4), Map.of("duplicate", 1), "kept");
        case GymWork.Train _ ->
            draw == 0 ? new GymOutcome.NotFinite("NaN") : new GymOutcome.Fitted("student", 2, 0.5);
        case GymWork.Finished() -> throw new IllegalStateException();
      };
    }
  }

  private static final List<SkillTree> TREES =
      List.of(new SkillTree("sub", List.of(new Subskill("borrow", 4, 0, false))));

  private static GymReport report(int correct) {
    List<AnsweredItem> answers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      answers.add(
          new AnsweredItem(new GymItem("i" + i, "sub", "borrow", "p", "a"), "a", i < correct));
    }
    return GymReport.of(answers);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void loop_endedAtEveryRecordAndResumed_doesAndPaysNothingTwice(long seed) {
    Shell whole = new Shell(seed);
    assertThat(whole.run(Integer.MAX_VALUE)).isTrue();
    Shell cut = new Shell(seed);
    while (!cut.run(1)) {}

    assertThat(cut.journal).isEqualTo(whole.journal);
    assertThat(cut.done).isEqualTo(whole.done);
    assertThat(cut.done.values()).containsOnly(1);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void loop_anyOutcomes_testsOnlyAfterTheChoiceAndEachStudentOnce(long seed) {
    Shell shell = new Shell(seed);
    boolean _ = shell.run(Integer.MAX_VALUE);

    for (int trial = 0; trial < PLAN.trials().size(); trial++) {
      boolean chosen = false;
      List<Integer> tested = new ArrayList<>();
      for (GymEvent event : shell.journal) {
        if (event instanceof GymEvent.Chosen at && at.trial() == trial) {
          assertThat(chosen).isFalse();
          chosen = true;
        }
        if (event instanceof GymEvent.Evaluated at
            && at.trial() == trial
            && at.split() == Split.TEST) {
          assertThat(chosen).isTrue();
          tested.add(at.iteration());
        }
      }
      assertThat(tested).doesNotHaveDuplicates().startsWith(0);
    }
  }

  @Test
  void next_withoutKeptRows_skipsTrainingAndKeepsTheReport() {
    GymState state = GymState.of(PLAN);
    state = after(state, new GymOutcome.Made("base"));
    state = after(state, new GymOutcome.Scored(report(5), "a"));
    state = after(state, new GymOutcome.Rows(Map.of(), TREES, 4, "f"));
    state = after(state, new GymOutcome.Judged(Map.of(), Map.of("duplicate", 4), "f"));

    assertThat(GymLoop.next(state)).isEqualTo(new GymWork.Propose(0, 2));
    assertThat(state.trials().getFirst().measured()).hasSize(1);
    assertThat(state.trials().getFirst().steps().getFirst().refused())
        .isEqualTo(Map.of("duplicate", 4));
  }

  @Test
  void next_afterADivergedTraining_testsBaseAndBest() {
    GymState state = GymState.of(PLAN);
    state = after(state, new GymOutcome.Made("base"));
    state = after(state, new GymOutcome.Scored(report(5), "a"));
    state = after(state, new GymOutcome.Rows(Map.of(), TREES, 4, "f"));
    state = after(state, new GymOutcome.Judged(Map.of("sub/borrow", 4), Map.of(), "f"));
    state = after(state, new GymOutcome.NotFinite("step 3: the loss is NaN"));

    assertThat(state.trials().getFirst().best()).isZero();
    assertThat(GymLoop.next(state)).isEqualTo(new GymWork.Evaluate(0, 0, Split.TEST));
    state = after(state, new GymOutcome.Scored(report(5), "a"));
    assertThat(state.trials().getFirst().ended()).isEqualTo("done");
    assertThat(GymLoop.next(state)).isEqualTo(new GymWork.MakeBase(1));
  }

  @Test
  void decide_anEqualLaterIteration_choosesTheEarlier() {
    GymPlan plan = new GymPlan(List.of(new Planned("one", 1)), 1, Gate.NONE);
    GymState state = GymState.of(plan);
    for (GymOutcome outcome :
        List.of(
            new GymOutcome.Made("base"),
            new GymOutcome.Scored(report(5), "a"),
            new GymOutcome.Rows(Map.of(), TREES, 4, "f"),
            new GymOutcome.Judged(Map.of("sub/borrow", 4), Map.of(), "f"),
            new GymOutcome.Fitted("s", 1, 0.1),
            new GymOutcome.Scored(report(5), "a"))) {
      for (GymEvent event : GymLoop.decide(plan, state, outcome)) {
        state = GymLoop.evolve(state, event);
      }
    }

    assertThat(state.trials().getFirst().best()).isZero();
    assertThat(state.trials().getFirst().trees().getFirst().generated()).isEqualTo(4);
    assertThat(state.trials().getFirst().steps().getFirst().rewards().getFirst().value()).isZero();
    assertThat(state.trials().getFirst().toTest()).containsExactly(0, 1);
  }

  @Test
  void gate_aSiblingNotLearnt_endsTheTrialAndNamesIt() {
    Gate gate = new Gate(List.of("sub/other"), 0.05, 0.95);
    GymPlan plan = new GymPlan(List.of(new Planned("one", 1)), 1, gate);
    GymState state = GymState.of(plan);
    for (GymOutcome outcome :
        List.of(new GymOutcome.Made("base"), new GymOutcome.Scored(report(9), "a"))) {
      for (GymEvent event : GymLoop.decide(plan, state, outcome)) {
        state = GymLoop.evolve(state, event);
      }
    }

    assertThat(GymLoop.next(state)).isEqualTo(new GymWork.Finished());
    assertThat(state.trials().getFirst().ended())
        .contains("sub/borrow is 0.900", "others_least is 0.95");
  }

  @Test
  void decide_anOutcomeOfOtherWork_isADefect() {
    assertThatThrownBy(
            () -> GymLoop.decide(PLAN, GymState.of(PLAN), new GymOutcome.Fitted("s", 1, 0)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("MakeBase");
  }

  private static GymState after(GymState state, GymOutcome outcome) {
    GymState next = state;
    for (GymEvent event : GymLoop.decide(PLAN, state, outcome)) {
      next = GymLoop.evolve(next, event);
    }
    return next;
  }
}
