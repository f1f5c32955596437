package io.troupe.engine.djl.train;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.djl.checkpoint.TeacherCheckpoint;
import io.troupe.engine.djl.checkpoint.TinyCheckpoints;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A policy taught by another's checkpoint. */
final class TeacherModelTest {
  private static final DecoderSettings SMALLER =
      new DecoderSettings(6, 1, 2, 1, 4, 8, 16, 10_000, 1e-6, true, .5);

  @TempDir private Path directory;

  private static TeacherCheckpoint open(Path folder) {
    try {
      return TeacherCheckpoint.open(folder);
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private static List<TrainingSequence> batch() {
    return Fixtures.groups(new Random(4), 3, 2);
  }

  private static List<TrainingSequence> taught(TrainingEngine student) {
    List<TrainingSequence> batch = batch();
    List<TeacherTokens> tokens = student.teacherTokens(batch, 5, 1);
    List<TrainingSequence> taught = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      taught.add(batch.get(i).withTeacher(tokens.get(i)));
    }
    return taught;
  }

  @Test
  void teacherTokens_ofARunsCheckpoint_areItsOwnAndTeachASmallerPolicy() throws IOException {
    Path saved = Files.createDirectory(directory.resolve("policy"));
    List<TeacherTokens> own;
    try (TrainingEngine teacher = Fixtures.policy(TINY).newTrainer(5)) {
      teacher.trainSupervised(batch(), Fixtures.ADAM);
      teacher.freezeReference();
      own = teacher.teacherTokens(batch(), 5, 1);
      assertThat(teacher.hasTeacher()).isFalse();
      teacher.save(saved);
    }
    // The folder around it is what a run calls a checkpoint.
    DjlPolicy policy = Fixtures.policy(SMALLER).withTeacher(open(directory));
    LossSettings distilled = Fixtures.plainLoss().with(new Distillation.Jsd(1, .9, 5), 0);
    try (TrainingEngine student = policy.newTrainer(1)) {
      List<TrainingSequence> taught = taught(student);
      for (int i = 0; i < own.size(); i++) {
        assertThat(taught.get(i).teacher().ids()).isDeepEqualTo(own.get(i).ids());
        assertThat(taught.get(i).teacher().logProbs()).isDeepEqualTo(own.get(i).logProbs());
      }
      assertThat(student.hasTeacher()).isTrue();
      List<Double> divergences = new ArrayList<>();
      for (int step = 0; step < 30; step++) {
        divergences.add(
            stepped(student.train(taught, distilled, Fixtures.adam(.03))).metrics().distillation());
      }
      assertThat(divergences.getLast()).isLessThan(.5 * divergences.getFirst());
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, .9, 1})
  void train_sequencesThatNoTeacherSpokeOf_areNotThere(double mix) {
    LossSettings distilled = Fixtures.plainLoss().with(new Distillation.Jsd(1, mix, 5), 0);
    List<Map<String, double[]>> weights = new ArrayList<>();
    List<Double> divergences = new ArrayList<>();
    for (boolean all : new boolean[] {true, false}) {
      try (TrainingEngine student = Fixtures.policy(SMALLER).newTrainer(1)) {
        student.trainSupervised(batch(), Fixtures.ADAM);
        student.freezeReference();
        List<TrainingSequence> rollouts = new ArrayList<>();
        List<TrainingSequence> taught = taught(student);
        for (int i = 0; i < taught.size(); i++) {
          if (i % 2 == 0) {
            rollouts.add(taught.get(i).withTeacherWeight(2));
          } else if (all) {
            rollouts.add(batch().get(i).withTeacherWeight(0));
          }
        }
        student.trainSupervised(batch().reversed(), Fixtures.adam(.1));
        StepOutcome.Stepped step = stepped(student.train(rollouts, distilled, Fixtures.ADAM));
        divergences.add(step.metrics().distillation());
        assertThat(step.gradientNorm()).isGreaterThan(1e-3);
        weights.add(Fixtures.weights(student));
      }
    }
    assertThat(divergences.getFirst()).isCloseTo(divergences.getLast(), within(1e-6));
    weights
        .getFirst()
        .forEach(
            (name, values) ->
                Fixtures.assertClose(
                    values, Fixtures.of(weights.getLast(), name), 1e-5, () -> name));
  }

  @Test
  void taughtBy_otherTokens_isRefusedWithWhatDiffers() throws IOException {
    CharacterTokenizer swapped = new CharacterTokenizer("0123456789=+");
    CharacterTokenizer fewer = new CharacterTokenizer("01");
    Path other = save("swapped", swapped);
    Path small = save("fewer", fewer);
    DjlPolicy policy = Fixtures.policy(TINY);

    assertThatThrownBy(() -> policy.withTeacher(open(other)))
        .hasMessageContaining("token 12 is '=', and the policy's is '+'");
    assertThatThrownBy(() -> policy.withTeacher(open(small)))
        .hasMessageContaining("has a vocabulary of 4, and the policy one of 14");
    assertThatThrownBy(() -> Fixtures.policy(longer()).withTeacher(open(other)))
        .hasMessageContaining("reads 16 tokens, and the policy's context_length is 32");
    assertThatThrownBy(() -> TeacherCheckpoint.open(directory.resolve("none")))
        .hasMessageContaining("is no directory");
  }

  @Test
  void taughtBy_huggingFaceFolders_comparesIdsAndNotFamilies() {
    PretrainedModel policy = TinyCheckpoints.open(TinyCheckpoints.QWEN3);
    TeacherCheckpoint same = open(TinyCheckpoints.directory("qwen3-untied-yarn"));

    same.requireFit(policy.withContextLength(32));

    assertThat(same.parameters()).isPositive();
    assertThatThrownBy(() -> Fixtures.policy(TINY).withTeacher(same))
        .hasMessageContaining("a teacher speaks of the policy's tokens");
  }

  private static DecoderSettings longer() {
    return TINY.withContextLength(32);
  }

  private Path save(String name, CharacterTokenizer tokenizer) throws IOException {
    Path folder = Files.createDirectory(directory.resolve(name));
    DjlPolicy policy = DjlPolicy.create(TINY, tokenizer, ComputeSettings.of(1, 1, 64));
    try (TrainingEngine trainer = policy.newTrainer(1)) {
      trainer.save(folder);
    }
    return folder;
  }
}
