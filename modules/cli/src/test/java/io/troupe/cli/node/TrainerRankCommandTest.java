package io.troupe.cli.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.run.compose.Composition;
import io.troupe.store.folder.RunFolder;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A trainer whose ranks are started as a run starts them, of which one is killed, against a trainer
 * alone. On demand, as {@link io.troupe.cli.ClusterTest}: each of the processes takes seconds.
 */
@EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
final class TrainerRankCommandTest {
  private static final String RUN =
      """
      task:
        name: arithmetic
        min: 0
        max: 9
      rollout:
        max_tokens: 3
      training:
        steps: 3
        groups_per_step: 8
        learning_rate: 0.01
      loss:
        kl_coefficient: 0.05
      cluster:
        worker_heap: 128
      placement:
        nodes: 1
        trainer_ranks: 2
        ranks_as: children
      policy:
        context_length: 16
      """;

  private static final String TOY = RUN + "  engine: toy\n";
  private static final String DJL =
      RUN
          + """
            engine: djl
            device: cpu
            hidden: 16
            layers: 1
            heads: 2
            kv_heads: 2
            head_dim: 8
            feed_forward: 16
          """;
  private static final OptimizerSettings ADAM = new OptimizerSettings(1e-2, .9, .95, 1e-4, .1, .5);
  private static final int STEPS = 3;

  @TempDir private Path folder;

  private final List<String> notes = new CopyOnWriteArrayList<>();

  @Test
  void train_aRanksProcessKilled_makesTheStepAgainAndIsTheTrainerOfOneThread() throws Exception {
    trains(TOY);
  }

  @Test
  void train_aDecoderRanksProcessKilled_makesTheStepAgain() throws Exception {
    trains(DJL);
  }

  private void trains(String yaml) throws Exception {
    Path file = Files.writeString(folder.resolve("run.yaml"), yaml);
    ResolvedConfig<RunConfig> resolved = RunConfig.load(file, List.of());
    RunFolder run =
        RunFolder.create(
            folder,
            "run",
            LocalDateTime.of(2026, 1, 2, 3, 4),
            new RunFolder.Contents(Files.readAllBytes(file), resolved.yaml(), Map.of(), ""));
    Composition composition = Composition.of(resolved.config());
    LossSettings loss = resolved.config().lossSettings();
    List<Float> whole;
    try (PolicyEngines plain = composition.engines();
        TrainingEngine trainer = plain.newTrainer(3)) {
      trainer.freezeReference();
      for (int step = 0; step < STEPS; step++) {
        assertThat(trainer.train(batch(step), loss, ADAM)).isInstanceOf(StepOutcome.Stepped.class);
      }
      whole = weights(trainer);
    }
    try (PolicyEngines ranked = composition.engines(run, List.of(), Optional.empty(), notes::add);
        TrainingEngine trainer = ranked.newTrainer(3)) {
      trainer.freezeReference();
      for (int step = 0; step < STEPS; step++) {
        if (step == 1) {
          kill(1);
        }
        assertThat(trainer.train(batch(step), loss, ADAM)).isInstanceOf(StepOutcome.Stepped.class);
      }
      List<Float> weights = weights(trainer);
      for (int i = 0; i < whole.size(); i++) {
        assertThat(weights.get(i)).isCloseTo(whole.get(i), within(1e-5f));
      }
    }
    assertThat(started(1)).hasSize(2);
    assertThat(started(0)).hasSize(1);
    assertThat(notes)
        .filteredOn(note -> note.contains("abandoned"))
        .singleElement()
        .asString()
        .contains("trainer rank 1 is lost: process " + started(1).getFirst() + " ended with 137");
    assertThat(started(0)).noneMatch(TrainerRankCommandTest::lives);
    assertThat(started(1)).noneMatch(TrainerRankCommandTest::lives);
  }

  private static boolean lives(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  private void kill(int rank) {
    ProcessHandle process = ProcessHandle.of(started(rank).getLast()).orElseThrow();
    process.destroyForcibly();
    process.onExit().join();
  }

  /** Returns the processes that were started for a rank. */
  private List<Long> started(int rank) {
    String part = "trainer rank %d is process ".formatted(rank);
    return notes.stream()
        .filter(note -> note.startsWith(part))
        .map(note -> Long.valueOf(note.substring(part.length())))
        .toList();
  }

  private static List<Float> weights(TrainingEngine trainer) {
    List<Float> weights = new ArrayList<>();
    trainer
        .snapshot(WeightVersion.BASE)
        .tensors()
        .forEach(
            tensor -> {
              for (float weight : tensor.data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED)) {
                weights.add(weight);
              }
            });
    return weights;
  }

  private static List<TrainingSequence> batch(int step) {
    SplittableRandom random = new SplittableRandom(step);
    List<TrainingSequence> batch = new ArrayList<>();
    for (int s = 0; s < 9; s++) {
      int[] prompt = random.ints(3, 2, 8).toArray();
      int[] completion = random.ints(1 + random.nextInt(4), 2, 8).toArray();
      float[] behaviour = new float[completion.length];
      float[] lossWeights = new float[completion.length];
      for (int t = 0; t < completion.length; t++) {
        behaviour[t] = (float) -random.nextDouble(1.5, 2.5);
        lossWeights[t] = 1f / 28;
      }
      batch.add(
          new TrainingSequence(
              prompt, completion, behaviour, lossWeights, random.nextDouble(-1, 1)));
    }
    return batch;
  }
}
