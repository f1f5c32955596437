package io.troupe.cluster.ranks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.cluster.ChildSpec;
import io.troupe.cluster.HostPort;
import io.troupe.cluster.Restarts;
import io.troupe.core.train.Correction;
import io.troupe.core.train.Distillation;
import io.troupe.core.train.KlEstimator;
import io.troupe.core.train.LossSettings;
import io.troupe.core.train.Objective;
import io.troupe.core.train.SequenceMask;
import io.troupe.core.train.TeacherTokens;
import io.troupe.core.train.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Optimisation;
import io.troupe.engine.StepOutcome;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.parallel.RankCrew;
import io.troupe.engine.toy.ToyPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks of the toy policy that are real processes, against its trainer of one thread. */
final class RankProcessesTest {
  /** Every part of a loss that a rank must be told. */
  private static final LossSettings LOSS =
      new LossSettings(
              new Objective.Dapo(),
              .2,
              .28,
              new Correction.TruncatedImportance(3),
              .1,
              KlEstimator.K3,
              1)
          .with(new SequenceMask.Geometric(.01, 100))
          .with(new Distillation.Jsd(.3, .5, 2), 1)
          .withSupervised(.5);

  private static final Optimisation ADAM = new Optimisation(1e-2, .9, .95, 1e-8, .1, .5);
  private static final int STEPS = 3;

  @TempDir private Path folder;

  private final List<String> notes = new CopyOnWriteArrayList<>();

  private ChildSpec child(int rank, HostPort head, String secret) {
    return new ChildSpec(
        "rank-" + rank,
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-Xmx64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            ToyRankMain.class.getName(),
            head.toString(),
            secret,
            Integer.toString(rank)),
        Map.of(
            "CLASSPATH",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))),
        folder,
        folder.resolve("rank-%d.log".formatted(rank)));
  }

  private RankCrew crew(RankProcesses.Starter starter) {
    try {
      return RankProcesses.of(2, starter, new Restarts.Policy(2, 600_000, 10, 10), notes::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A step, another for which rank 1 is dead, and one more. */
  @Test
  void train_aRanksProcessKilled_makesTheStepAgainAndIsTheTrainerOfOneThread() {
    ToyPolicy plain = new ToyPolicy(ToyRankMain.POLICY);
    List<Float> whole;
    try (TrainingEngine trainer = plain.newTrainer(3)) {
      trainer.freezeReference();
      for (int step = 0; step < STEPS; step++) {
        step(trainer, step);
      }
      whole = weights(trainer);
    }
    try (TrainingEngine trainer = plain.by(() -> crew(this::child)).newTrainer(3)) {
      trainer.freezeReference();
      step(trainer, 0);
      ProcessHandle killed = ProcessHandle.of(started(1).getFirst()).orElseThrow();
      killed.destroyForcibly();
      killed.onExit().join();
      step(trainer, 1);
      step(trainer, 2);
      List<Float> weights = weights(trainer);
      for (int i = 0; i < whole.size(); i++) {
        assertThat(weights.get(i)).isCloseTo(whole.get(i), within(1e-5f));
      }
    }
    assertThat(started(0)).hasSize(1);
    assertThat(started(1)).hasSize(2);
    assertThat(notes)
        .filteredOn(note -> note.contains("abandoned"))
        .singleElement()
        .asString()
        .contains(
            "trainer rank 1 is lost: process %d ended with 137".formatted(started(1).getFirst()));
    assertThat(started(0)).noneMatch(pid -> ProcessHandle.of(pid).isPresent());
    assertThat(started(1)).noneMatch(pid -> ProcessHandle.of(pid).isPresent());
  }

  @Test
  void train_processThatEndsAgainAndAgain_isGivenUpWithTheNextStep() {
    RankProcesses.Starter broken =
        (rank, _, _) ->
            new ChildSpec(
                "rank-" + rank,
                List.of(folder.resolve("absent").toString()),
                Map.of(),
                folder,
                folder.resolve("log"));
    try (TrainingEngine trainer =
        new ToyPolicy(ToyRankMain.POLICY).by(() -> crew(broken)).newTrainer(3)) {
      trainer.freezeReference();
      assertThatThrownBy(() -> step(trainer, 0))
          .hasMessageContaining("rank-0 ended 2 times within 10 minutes; see ")
          .hasMessageContaining("then resume the run");
    }
  }

  private static void step(TrainingEngine trainer, int step) {
    assertThat(trainer.train(batch(step, 9), batch(step, 2), LOSS, ADAM))
        .isInstanceOf(StepOutcome.Stepped.class);
  }

  /** Processes that were started for a rank. */
  private List<Long> started(int rank) {
    String part = "trainer rank %d is process ".formatted(rank);
    return notes.stream()
        .filter(note -> note.startsWith(part))
        .map(note -> Long.valueOf(note.substring(part.length())))
        .toList();
  }

  private static List<Float> weights(TrainingEngine trainer) {
    List<Float> weights = new ArrayList<>();
    float[] all =
        trainer
            .snapshot(WeightVersion.BASE)
            .tensors()
            .getFirst()
            .data()
            .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    for (float weight : all) {
      weights.add(weight);
    }
    return weights;
  }

  private static List<TrainingSequence> batch(int step, int size) {
    SplittableRandom random = new SplittableRandom(step);
    List<TrainingSequence> batch = new ArrayList<>();
    for (int s = 0; s < size; s++) {
      int[] prompt = random.ints(3, 2, 8).toArray();
      int[] completion = random.ints(1 + random.nextInt(4), 2, 8).toArray();
      float[] behaviour = new float[completion.length];
      float[] lossWeights = new float[completion.length];
      int[] staleness = new int[completion.length];
      TeacherTokens teacher = TeacherTokens.silent(completion.length, 2);
      for (int t = 0; t < completion.length; t++) {
        behaviour[t] = (float) -random.nextDouble(1.5, 2.5);
        lossWeights[t] = 1f / 28;
        staleness[t] = t % 2;
        for (int k = 0; k < 2; k++) {
          teacher.ids()[t][k] = 2 + k;
          teacher.logProbs()[t][k] = -1 - k;
        }
      }
      batch.add(
          new TrainingSequence(prompt, completion, behaviour, lossWeights, random.nextDouble(-1, 1))
              .sampledBehind(staleness)
              .taughtBy(teacher));
    }
    return batch;
  }
}
