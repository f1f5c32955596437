package io.troupe.engine.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ToyCheckpointTest {
  @TempDir private Path folder;

  private final ToyPolicy policy = new ToyPolicy(Addition.SETTINGS);
  private final Addition addition = new Addition(policy.tokenizer());

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void restore_intoAFreshTrainer_goesOnBitForBit(boolean penalised) throws IOException {
    TrainingEngine unbroken = policy.newTrainer(1);
    if (penalised) {
      unbroken.freezeReference();
    }
    steps(unbroken, 0, 5, penalised);
    unbroken.save(folder);
    TrainingEngine resumed = policy.newTrainer(99);
    steps(resumed, 50, 53, false);
    resumed.restore(folder);

    assertThat(digest(resumed)).isEqualTo(digest(unbroken));
    assertThat(steps(resumed, 5, 10, penalised)).isEqualTo(steps(unbroken, 5, 10, penalised));
    assertThat(digest(resumed)).isEqualTo(digest(unbroken));
  }

  @Test
  void restore_withoutReference_forgetsTheTrainersOwn() throws IOException {
    policy.newTrainer(1).save(folder);
    TrainingEngine trainer = policy.newTrainer(2);
    trainer.freezeReference();
    trainer.restore(folder);

    assertThatThrownBy(() -> steps(trainer, 0, 1, true))
        .hasMessageContaining("needs a reference policy");
  }

  @Test
  void save_always_writesSafetensors() throws IOException {
    policy.newTrainer(1).save(folder);

    byte[] bytes = Files.readAllBytes(folder.resolve("model.safetensors"));
    int length = Math.toIntExact(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong());
    assertThat(length % 8).isZero();
    assertThat(new String(bytes, 8, length, StandardCharsets.UTF_8).strip())
        .isEqualTo(
            "{\"sums.weight\":{\"dtype\":\"F32\",\"shape\":[4,64,14],\"data_offsets\":[0,14336]}}");
    assertThat(bytes).hasSize(8 + length + 14336);
  }

  @Test
  void save_intoADirectoryThatHoldsACheckpoint_isRefused() throws IOException {
    policy.newTrainer(1).save(folder);

    assertThatThrownBy(() -> policy.newTrainer(2).save(folder))
        .isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void restore_ofAnotherPolicy_saysWhatDiffers() throws IOException {
    policy.newTrainer(1).save(folder);

    ToySettings permuted = ToySettings.of("0123456789+=", 8);
    assertThatThrownBy(() -> new ToyPolicy(permuted).newTrainer(1).restore(folder))
        .isInstanceOf(IOException.class)
        .hasMessageEndingWith(
            "trainer.safetensors was written for another alphabet than \"0123456789+=\"; restore it"
                + " into the policy it is of");
    ToySettings larger = ToySettings.of("+0123456789=x", 8);
    assertThatThrownBy(() -> new ToyPolicy(larger).newTrainer(1).restore(folder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("model.safetensors is no checkpoint of this policy")
        .hasMessageContaining("\"shape\":[4,64,15]");
  }

  @Test
  void restore_damagedOrMissingFile_failsAndLeavesTheTrainerAsItWas() throws IOException {
    policy.newTrainer(1).save(folder);
    Path file = folder.resolve("trainer.safetensors");
    byte[] whole = Files.readAllBytes(file);
    TrainingEngine trainer = policy.newTrainer(2);
    String before = digest(trainer);

    Files.write(file, Arrays.copyOf(whole, whole.length - 1));
    assertThatThrownBy(() -> trainer.restore(folder))
        .hasMessageEndingWith(
            "trainer.safetensors has %d bytes instead of %d; it is damaged, restore an older checkpoint"
                .formatted(whole.length - 1, whole.length));
    Files.write(file, new byte[] {1, 2, 3});
    assertThatThrownBy(() -> trainer.restore(folder)).isInstanceOf(IOException.class);
    Files.delete(file);
    assertThatThrownBy(() -> trainer.restore(folder)).isInstanceOf(NoSuchFileException.class);
    assertThat(digest(trainer)).isEqualTo(before);
  }

  /** Trains with steps that are a function of their number. */
  private List<StepOutcome> steps(TrainingEngine trainer, int from, int to, boolean penalised) {
    LossSettings loss =
        new LossSettings(
            new Objective.Dapo(),
            0.2,
            0.2,
            new Correction.TruncatedImportance(2),
            penalised ? 0.1 : 0,
            KlEstimator.K3,
            0.9);
    List<StepOutcome> outcomes = new ArrayList<>();
    for (int step = from; step < to; step++) {
      TrainingSequence solution = addition.solution(step % 10, step % 7, 0.2f);
      float[] behaviour = new float[solution.completion().length];
      Arrays.fill(behaviour, -2.5f);
      outcomes.add(
          Addition.untimed(
              trainer.train(
                  List.of(
                      new TrainingSequence(
                          solution.prompt(),
                          solution.completion(),
                          behaviour,
                          solution.lossWeights(),
                          1 + step)),
                  loss,
                  Addition.rate(0.1))));
    }
    return outcomes;
  }

  private static String digest(TrainingEngine trainer) {
    return trainer.snapshot(WeightVersion.BASE).digest();
  }
}
