package io.troupe.runtime;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.train.StepOutcome;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.runtime.prompt.Toys;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.checkpoint.StepTokenFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The warm-up: what it teaches, and how it ends. */
class TrainerTasksTest {
  private final Pupil pupil = new Pupil();
  private final List<List<TrainingSequence>> lessons = pupil.lessons;

  private TrainerTasks workshop(Path folder, RunSettings.Warmup warmup) throws IOException {
    RunSettings plain = Toys.settings(10, 0);
    RunSettings settings =
        new RunSettings(
            plain.seed(),
            plain.limits(),
            plain.loss(),
            plain.optimisation(),
            plain.learningRate(),
            plain.sampling(),
            warmup,
            plain.examplesPerStep(),
            plain.refreshReferenceEvery(),
            plain.teacherPrompt(),
            plain.workers(),
            plain.groupsPerRequest(),
            plain.evaluationPrompts(),
            plain.evaluationTokens(),
            plain.keepCheckpoints());
    return new TrainerTasks(
        pupil.room(),
        settings,
        Toys.pool(),
        Checkpoints.open(folder),
        StepTokenFiles.off(),
        Optional.empty(),
        _ -> {});
  }

  private static String text(int[] tokens) {
    return Toys.policy().tokenizer().decode(tokens);
  }

  @Test
  void prepare_warmup_passesOverItsExamplesEquallyOften(@TempDir Path folder) throws IOException {
    workshop(folder, new RunSettings.Warmup(5, 0, 4, 0.25, 10)).prepare();
    assertThat(lessons).hasSize(5).allSatisfy(lesson -> assertThat(lesson).hasSize(4));
    assertThat(pupil.rates).containsOnly(0.25);
    Map<String, Long> seen =
        lessons.stream()
            .flatMap(List::stream)
            .collect(groupingBy(one -> text(one.prompt()), counting()));
    assertThat(seen).hasSize(10);
    assertThat(seen.values()).containsOnly(2L);
  }

  @Test
  void prepare_allExamples_coversThePool(@TempDir Path folder) throws IOException {
    workshop(folder, new RunSettings.Warmup(10, 0, 10, 0.25, 0)).prepare();
    assertThat(lessons.stream().flatMap(List::stream).map(one -> text(one.prompt())).distinct())
        .hasSize(100);
  }

  @Test
  void lesson_example_isTheSolutionWithItsStopTokenAllWeighedAlike(@TempDir Path folder)
      throws IOException {
    workshop(folder, new RunSettings.Warmup(1, 0, 8, 0.25, 0)).prepare();
    List<TrainingSequence> lesson = lessons.getFirst();
    int tokens = lesson.stream().mapToInt(one -> one.completion().length).sum();
    for (TrainingSequence one : lesson) {
      String[] terms = text(one.prompt()).replace("=", "").split("\\+", 2);
      assertThat(text(one.completion()))
          .isEqualTo("" + (Integer.parseInt(terms[0]) + Integer.parseInt(terms[1])));
      assertThat(one.completion()[one.completion().length - 1])
          .isEqualTo(Toys.policy().tokenizer().endOfSequence());
      assertThat(one.lossWeights()).containsOnly((float) (1.0 / tokens));
      assertThat(one.advantage()).isZero();
    }
  }

  @Test
  void prepare_noWarmup_teachesNothing(@TempDir Path folder) throws IOException {
    assertThat(
            workshop(folder, new RunSettings.Warmup(0, 0, 4, 0.25, 0))
                .prepare()
                .snapshot()
                .version())
        .isEqualTo(WeightVersion.BASE);
    assertThat(lessons).isEmpty();
  }

  @Test
  void prepare_lossLowEnough_endsEarly(@TempDir Path folder) throws IOException {
    workshop(folder, new RunSettings.Warmup(50, 0.5, 4, 0.25, 0)).prepare();
    assertThat(lessons).as("the mean of ten steps is what counts").hasSize(10);
  }

  @Test
  void prepare_stopped_endsBeforeItsNextStep(@TempDir Path folder) throws IOException {
    TrainerTasks workshop = workshop(folder, new RunSettings.Warmup(5, 0, 4, 0.25, 0));
    workshop.stop();
    assertThatThrownBy(workshop::prepare)
        .isInstanceOf(CancellationException.class)
        .hasMessage("stopped in warm-up step 1");
  }

  @Test
  void prepare_lossThatIsNotFinite_saysWhatToChange(@TempDir Path folder) throws IOException {
    pupil.outcome = new StepOutcome.Skipped("the loss is NaN");
    TrainerTasks workshop = workshop(folder, new RunSettings.Warmup(5, 0, 4, 0.25, 0));
    assertThatThrownBy(workshop::prepare)
        .hasMessage("warm-up step 1: the loss is NaN; lower warmup.learning_rate");
  }
}
