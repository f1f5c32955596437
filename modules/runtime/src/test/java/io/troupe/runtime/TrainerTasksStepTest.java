package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.advantage.Baseline;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.KlPlacement;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.core.train.GroupTokenMarks;
import io.troupe.core.train.TokenMarks;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.runtime.prompt.Toys;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.checkpoint.StepTokenFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The input of the trainer's engine in a step, beside the completions. */
final class TrainerTasksStepTest {
  private static final Objective PLAIN = new Objective.Dapo();

  @TempDir private Path folder;

  private final Pupil pupil = new Pupil();
  private String teacherPrompt = "";

  private static LossSettings loss(
      double kl, KlPlacement place, Distillation distillation, double supervised) {
    return new LossSettings(PLAIN, 0.2, 0.28, new Correction.None(), kl, KlEstimator.K1, 1)
        .with(Baseline.CENTRED)
        .with(place)
        .with(new LossSettings.Shares(1, distillation, supervised));
  }

  private TrainerTasks workshop(LossSettings loss, int examples, int refreshEvery)
      throws IOException {
    return workshop(loss, examples, refreshEvery, Toys.pool());
  }

  private TrainerTasks workshop(LossSettings loss, int examples, int refreshEvery, PromptPool pool)
      throws IOException {
    RunSettings plain = Toys.settings(10, 0);
    RunSettings settings =
        new RunSettings(
            plain.seed(),
            plain.limits(),
            loss,
            plain.optimisation(),
            plain.learningRate(),
            plain.sampling(),
            plain.warmup(),
            examples,
            refreshEvery,
            teacherPrompt,
            plain.workers(),
            plain.groupsPerRequest(),
            plain.evaluationPrompts(),
            plain.evaluationTokens(),
            plain.keepCheckpoints());
    TrainerTasks workshop =
        new TrainerTasks(
            pupil.room(),
            settings,
            pool,
            Checkpoints.open(folder),
            StepTokenFiles.off(),
            Optional.empty(),
            _ -> {});
    workshop.prepare();
    return workshop;
  }

  private static List<ScoredGroup> groups(double first, double second) {
    return List.of(Toys.group(Toys.lease(1, 1), first, second));
  }

  private List<TrainingSequence> trained(TrainerTasks workshop, double first, double second) {
    workshop.train(1, WeightVersion.BASE, groups(first, second));
    return pupil.steps.getLast().rollouts();
  }

  @Test
  void train_penaltyInTheReward_isTakenOffBeforeTheBaseline() throws IOException {
    // The sampler says -1 to every token. The reference says -3 to the "1", which costs 0.25 * 2,
    // and -1 to the "2", which costs nothing.
    pupil.reference = sequence -> text(sequence.completion()).equals("1") ? -3 : -1;
    LossSettings penalised = loss(0.25, KlPlacement.REWARD, new Distillation.None(), 0);
    List<TrainingSequence> rollouts = trained(workshop(penalised, 0, 0), 1, 0);
    List<TrainingSequence> byHand =
        trained(workshop(loss(0, KlPlacement.REWARD, new Distillation.None(), 0), 0, 0), 1 - .5, 0);
    assertThat(rollouts).hasSize(2);
    for (int i = 0; i < 2; i++) {
      assertThat(rollouts.get(i).advantage()).isCloseTo(byHand.get(i).advantage(), within(1e-12));
    }
    assertThat(rollouts.getFirst().advantage()).isEqualTo(.25);
  }

  @Test
  void train_referenceThatIsNotFiniteInTheReward_keepsTheWeightsAndSaysWhy() throws IOException {
    pupil.reference = _ -> Double.NaN;
    TrainerTasks workshop =
        workshop(loss(0.25, KlPlacement.REWARD, new Distillation.None(), 0), 0, 0);
    assertThat(workshop.train(1, WeightVersion.BASE, groups(1, 0)))
        .isEqualTo(
            new TrainerTasks.WeightsKept(
                "a log-probability of the reference policy is not finite", false));
    assertThat(pupil.steps).isEmpty();
  }

  @Test
  void train_referenceRefreshed_isFrozenAtTheStartAndEverySoManySteps() throws IOException {
    TrainerTasks workshop = workshop(loss(0.1, KlPlacement.LOSS, new Distillation.None(), 0), 0, 2);
    for (int step = 1; step <= 5; step++) {
      workshop.train(step, new WeightVersion(step - 1), groups(1, 0));
    }
    assertThat(pupil.frozenBefore).containsExactly(0, 2, 4);
  }

  @Test
  void train_examplesMixedIn_areOthersInEachStepAndTheSameWhenMadeAgain() throws IOException {
    TrainerTasks workshop = workshop(loss(0, KlPlacement.LOSS, new Distillation.None(), 0.5), 3, 0);
    for (int step : new int[] {1, 2, 1}) {
      workshop.train(step, WeightVersion.BASE, groups(1, 0));
    }
    List<List<String>> prompts =
        pupil.steps.stream()
            .map(step -> step.examples().stream().map(one -> text(one.prompt())).toList())
            .toList();
    assertThat(prompts).allSatisfy(examples -> assertThat(examples).hasSize(3));
    assertThat(prompts.get(1)).doesNotContainAnyElementsOf(prompts.get(0));
    assertThat(prompts.get(2)).isEqualTo(prompts.get(0));
  }

  @Test
  void train_rowsOfTheirOwn_areEachOnceAnEpochAndTheSameWhenMadeAgain() throws IOException {
    List<SupervisedExample> rows =
        IntStream.range(0, 5)
            .mapToObj(i -> SupervisedExample.answered("row" + i, new int[] {i}, new int[] {2}, 0))
            .toList();
    TrainerTasks workshop =
        workshop(
            loss(0, KlPlacement.LOSS, new Distillation.None(), 0.5),
            2,
            0,
            Toys.pool().imitating(rows));
    for (int step : new int[] {1, 2, 3, 4, 5, 6, 4}) {
      workshop.train(step, WeightVersion.BASE, groups(1, 0));
    }
    List<List<Integer>> shown =
        pupil.steps.stream()
            .map(step -> step.examples().stream().map(one -> one.prompt()[0]).toList())
            .toList();
    for (int epoch : new int[] {0, 3}) {
      assertThat(shown.subList(epoch, epoch + 3).stream().flatMap(List::stream))
          .containsExactlyInAnyOrder(0, 1, 2, 3, 4);
    }
    assertThat(shown.subList(3, 6)).isNotEqualTo(shown.subList(0, 3));
    assertThat(shown.get(6)).isEqualTo(shown.get(3));
    assertThat(pupil.steps.getFirst().examples())
        .allSatisfy(one -> assertThat(one.lossWeights()).containsExactly(.25f, .25f));
  }

  @Test
  void train_distillation_bringsTheTeachersTokensToEveryRollout() throws IOException {
    Distillation teacher = new Distillation.Jsd(1, 0.5, 3);
    List<TrainingSequence> rollouts =
        trained(workshop(loss(0, KlPlacement.LOSS, teacher, 0), 0, 0), 1, 0);
    assertThat(rollouts)
        .hasSize(2)
        .allSatisfy(sequence -> assertThat(sequence.teacher().topK()).isEqualTo(3));
    assertThat(pupil.frozenBefore).containsExactly(0);
  }

  @Test
  void train_teacherOfItsOwn_needsNoReference() throws IOException {
    pupil.taught = true;
    trained(workshop(loss(0, KlPlacement.LOSS, new Distillation.Jsd(1, 0.5, 3), 0), 0, 0), 1, 0);
    assertThat(pupil.frozenBefore).isEmpty();
  }

  @Test
  void train_teacherPrompt_isWhatTheTeacherReadsAndNotThePolicy() throws IOException {
    // A context of 8 holds the solution, the prompt of 4 and the completion "1", not a longer one.
    teacherPrompt = "{solution}{prompt}";
    Distillation teacher = new Distillation.ForwardKl(1, 2, false);
    List<TrainingSequence> rollouts =
        trained(workshop(loss(0, KlPlacement.LOSS, teacher, 0), 0, 0), 1, 0);
    assertThat(pupil.asked)
        .extracting(sequence -> text(sequence.prompt()))
        .containsExactly("21+1=", "21+1=");
    assertThat(rollouts).allSatisfy(s -> assertThat(text(s.prompt())).isEqualTo("1+1="));
    teacherPrompt = "{prompt}{prompt}";
    rollouts = trained(workshop(loss(0, KlPlacement.LOSS, teacher, 0), 0, 0), 1, 0);
    assertThat(pupil.asked).hasSize(2);
    assertThat(rollouts)
        .hasSize(2)
        .allSatisfy(s -> assertThat(s.teacher()).isSameAs(TeacherTokens.NONE))
        .allSatisfy(s -> assertThat(s.teacherWeight()).isZero())
        .allSatisfy(s -> assertThat(s.lossWeights()).doesNotContain(0));
  }

  @Test
  void train_tokensWithMarks_areThoseOfTheirGroups() throws IOException {
    TokenMarks high =
        new TokenMarks(List.of(), List.of(new TokenMarks.MarkedRun(0, 1)), List.of(), List.of());
    pupil.marks = sequence -> text(sequence.completion()).equals("2") ? high : TokenMarks.NONE;
    TrainerTasks workshop = workshop(loss(0, KlPlacement.LOSS, new Distillation.None(), 0), 0, 0);
    List<ScoredGroup> two =
        List.of(Toys.group(Toys.lease(1, 1), 1, 0), Toys.group(Toys.lease(2, 5), 0, 1));
    TrainerTasks.WeightsUpdated moved =
        (TrainerTasks.WeightsUpdated) workshop.train(1, WeightVersion.BASE, two);
    assertThat(moved.groups())
        .containsExactly(
            new GroupTokenMarks(Toys.lease(1, 1), List.of(TokenMarks.NONE, high)),
            new GroupTokenMarks(Toys.lease(2, 5), List.of(TokenMarks.NONE, high)));
  }

  private static String text(int[] tokens) {
    return Toys.policy().tokenizer().decode(tokens);
  }
}
