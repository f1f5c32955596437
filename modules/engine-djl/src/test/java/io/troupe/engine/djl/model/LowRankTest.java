package io.troupe.engine.djl.model;

import static io.troupe.engine.djl.model.Fixtures.ADAM;
import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.Tuning.Target;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.train.DjlTrainer;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.djl.train.TrainingMode.Activations;
import io.troupe.engine.safetensors.PeftFolder;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Adapters: what they add, what they move, and their files. */
final class LowRankTest {
  private static final Tuning.LowRank ALL = new Tuning.LowRank(2, 4, List.of(Target.values()));
  private static final OptimizerSettings LOOK = new OptimizerSettings(0, 0, .9, 1e-8, 0, 0);
  private static final LossSettings PENALTY =
      Fixtures.loss(new Correction.None(), .1, KlEstimator.K3);

  private static DjlTrainer trainer(Tuning tuning) {
    return (DjlTrainer)
        Fixtures.policy(TINY).trained(new TrainingMode(tuning, Activations.KEPT)).newTrainer(21);
  }

  @Test
  void newTrainer_beforeAnyStep_isTheBase() {
    try (DjlTrainer full = trainer(new Tuning.Full());
        DjlTrainer adapted = trainer(ALL)) {
      List<TrainingSequence> batch = Fixtures.groups(new Random(1), 3, 3);
      assertThat(digest(adapted)).isEqualTo(digest(full));
      assertThat(stepped(adapted.trainSupervised(batch, LOOK)).loss())
          .isEqualTo(stepped(full.trainSupervised(batch, LOOK)).loss());
    }
  }

  /** The snapshot is merged: the scalar decoder over it must say what the adapted forward says. */
  @Test
  void train_someSteps_mergedWeightsSayTheSame() {
    List<TrainingSequence> drawn = Fixtures.groups(new Random(2), 3, 3);
    try (DjlTrainer adapted = trainer(ALL)) {
      for (int step = 0; step < 5; step++) {
        adapted.trainSupervised(drawn, ADAM);
      }
      ReferenceDecoder merged =
          new ReferenceDecoder(TINY, TOKENIZER.vocabularySize(), Fixtures.weights(adapted));
      List<TrainingSequence> batch = new ArrayList<>();
      for (TrainingSequence s : drawn) {
        double[] logProbs = merged.logProbs(s, 1);
        float[] behaviour = new float[logProbs.length];
        for (int t = 0; t < behaviour.length; t++) {
          behaviour[t] = (float) logProbs[t];
        }
        batch.add(Fixtures.withBehaviour(s, behaviour));
      }
      assertThat(stepped(adapted.train(batch, Fixtures.plainLoss(), LOOK)).metrics().gapMax())
          .isLessThan(1e-5);
    }
  }

  /** What servers load beside the base must make the weights that everybody else is given. */
  @Test
  void snapshot_adaptersInTheirFolderAddedToTheBase_areTheMergedWeights(@TempDir Path folder)
      throws IOException {
    try (DjlTrainer full = trainer(new Tuning.Full());
        DjlTrainer adapted = trainer(ALL);
        Arena arena = Arena.ofConfined()) {
      for (int step = 0; step < 3; step++) {
        adapted.trainSupervised(Fixtures.groups(new Random(6), 3, 3), ADAM);
      }
      WeightSnapshot snapshot = adapted.snapshot(new WeightVersion(1));
      PeftFolder.write(folder, snapshot.adapter());
      Map<String, StoredTensor> files =
          SafetensorsFile.map(folder.resolve(PeftFolder.MODEL), arena).tensors();
      Map<String, double[]> adapters = Fixtures.numbers(snapshot.adapter().tensors());
      assertThat(files).containsOnlyKeys(adapters.keySet());
      Map<String, double[]> base = Fixtures.weights(full);
      Map<String, double[]> merged = Fixtures.numbers(snapshot.tensors());
      for (String name : adapters.keySet()) {
        if (name.contains("lora_B")) {
          String matrix = name.replace("base_model.model.", "").replace(".lora_B", "");
          double[] a = Fixtures.of(adapters, name.replace("lora_B", "lora_A"));
          double[] b = Fixtures.of(adapters, name);
          double[] expected = Fixtures.of(base, matrix).clone();
          int columns = a.length / 2;
          for (int i = 0; i < expected.length; i++) {
            int row = i / columns;
            int column = i % columns;
            for (int r = 0; r < 2; r++) {
              expected[i] += 2 * b[2 * row + r] * a[r * columns + column];
            }
          }
          assertThat(Fixtures.of(merged, matrix))
              .as(matrix)
              .containsExactly(expected, within(1e-5));
        }
      }
      Map<String, double[]> sums =
          Fixtures.numbers(
              PeftFolder.read(folder).addedTo(full.snapshot(WeightVersion.BASE).tensors()));
      assertThat(sums).containsOnlyKeys(merged.keySet());
      merged.forEach(
          (name, values) ->
              assertThat(Fixtures.of(sums, name)).as(name).containsExactly(values, within(1e-6)));
    }
  }

  @Test
  void train_aStep_movesAdaptersAlone() {
    try (DjlTrainer full = trainer(new Tuning.Full());
        DjlTrainer adapted =
            trainer(new Tuning.LowRank(3, 3, List.of(Target.Q_PROJ, Target.UP_PROJ)))) {
      Map<String, double[]> before = Fixtures.weights(full);
      adapted.trainSupervised(Fixtures.groups(new Random(3), 3, 3), ADAM);
      Fixtures.weights(adapted)
          .forEach(
              (name, values) -> {
                boolean target = name.contains("q_proj") || name.contains("up_proj");
                assertThat(Arrays.equals(values, Fixtures.of(before, name)))
                    .as(name)
                    .isEqualTo(!target);
              });
      assertThat(adapted.optimizer().first().views())
          .hasSize(2 * 2 * TINY.layers())
          .allMatch(moment -> moment.name().contains(".lora_"));
    }
  }

  /** By the chain rule, dL/dB = scale · dL/dW Aᵀ and dL/dA = scale · Bᵀ dL/dW. */
  @Test
  void imitate_adapters_haveTheDenseGradientsProjections() {
    List<TrainingSequence> batch = Fixtures.groups(new Random(4), 3, 3);
    try (DjlTrainer full = trainer(new Tuning.Full());
        DjlTrainer adapted = trainer(ALL)) {
      stepped(full.trainSupervised(batch, LOOK));
      stepped(adapted.trainSupervised(batch, LOOK));
      Map<String, double[]> dense = Fixtures.numbers(full.optimizer().first().views());
      Map<String, double[]> low = Fixtures.numbers(adapted.optimizer().first().views());
      Map<String, double[]> adapters = Fixtures.numbers(adapted.moved().views());
      for (String name : low.keySet()) {
        double[] found = Fixtures.of(low, name);
        if (name.contains("lora_A")) {
          assertThat(found).as(name).containsOnly(0); // B is 0
        } else {
          String matrix = name.replace("base_model.model.", "").replace(".lora_B", "");
          double[] a = Fixtures.of(adapters, name.replace("lora_B", "lora_A"));
          assertThat(found)
              .as(name)
              .containsExactly(product(Fixtures.of(dense, matrix), a), within(1e-5));
        }
      }
    }
  }

  /** scale · W Aᵀ, for W [out, in] and A [rank, in]. */
  private static double[] product(double[] w, double[] a) {
    int in = a.length / ALL.rank();
    double[] product = new double[w.length / in * ALL.rank()];
    for (int i = 0; i < product.length; i++) {
      for (int j = 0; j < in; j++) {
        product[i] += ALL.scale() * w[i / ALL.rank() * in + j] * a[i % ALL.rank() * in + j];
      }
    }
    return product;
  }

  @Test
  void freezeReference_beforeAnyStep_copiesNothing() {
    try (DjlTrainer adapted = trainer(ALL)) {
      long before = NativeTensor.live();
      adapted.freezeReference();
      assertThat(NativeTensor.live()).isEqualTo(before);
      List<TrainingSequence> batch = Fixtures.groups(new Random(5), 3, 3);
      assertThat(stepped(adapted.train(batch, PENALTY, ADAM)).metrics().referenceKl()).isZero();
      assertThat(stepped(adapted.train(batch, PENALTY, ADAM)).metrics().referenceKl()).isPositive();
    }
  }

  @Test
  void restore_saved_goesOnBitForBit(@TempDir Path folder) throws IOException {
    List<TrainingSequence> batch = Fixtures.groups(new Random(6), 3, 3);
    try (DjlTrainer saved = trainer(ALL);
        DjlTrainer restored = trainer(ALL)) {
      saved.freezeReference();
      saved.train(batch, PENALTY, ADAM);
      saved.save(folder);
      restored.restore(folder);
      for (int step = 0; step < 3; step++) {
        StepOutcome expected = Fixtures.untimed(saved.train(batch, PENALTY, ADAM));
        assertThat(Fixtures.untimed(restored.train(batch, PENALTY, ADAM))).isEqualTo(expected);
      }
      assertThat(digest(restored)).isEqualTo(digest(saved));
    }
  }

  @Test
  void save_adapters_areInTheLayoutOfPeft(@TempDir Path folder) throws IOException {
    try (DjlTrainer adapted = trainer(ALL);
        Arena arena = Arena.ofConfined()) {
      adapted.trainSupervised(Fixtures.groups(new Random(7), 3, 3), ADAM);
      adapted.save(folder);
      Path adapter = folder.resolve("adapter");
      assertThat(Files.readString(adapter.resolve("adapter_config.json")))
          .contains("\"peft_type\" : \"LORA\"", "\"r\" : 2", "\"lora_alpha\" : 4.0", "q_proj");
      assertThat(
              SafetensorsFile.map(adapter.resolve("adapter_model.safetensors"), arena)
                  .tensors()
                  .keySet())
          .hasSize(2 * 7 * TINY.layers())
          .contains("base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight")
          .contains("base_model.model.model.layers.0.mlp.down_proj.lora_B.weight");
      try (TrainingEngine full = trainer(new Tuning.Full())) {
        assertThatThrownBy(() -> full.restore(folder))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("trains adapters");
      }
    }
  }

  private static String digest(TrainingEngine trainer) {
    return trainer.snapshot(WeightVersion.BASE).digest();
  }

  /** 4/3 is not a number of bfloat16, and the merged weights have it in float32. */
  @Test
  void train_bfloat16_scaleIsNotRounded() {
    List<TrainingSequence> batch = Fixtures.groups(new Random(4), 3, 3);
    assertThat(lossInBfloat16(4, .75, batch)).isEqualTo(lossInBfloat16(3, 1, batch));
  }

  /** Of adapters of rank 3 whose B is a multiple of numbers that bfloat16 has. */
  private static double lossInBfloat16(double alpha, double factor, List<TrainingSequence> batch) {
    DjlPolicy policy =
        DjlPolicy.create(
                TINY,
                Fixtures.TOKENIZER,
                ComputeSettings.of(1, 1, 1 << 14).on(Device.host(), Precision.BFLOAT16))
            .trained(
                new TrainingMode(
                    new Tuning.LowRank(3, alpha, List.of(Target.values())), Activations.KEPT));
    try (DjlTrainer trainer = (DjlTrainer) policy.newTrainer(21)) {
      trainer
          .moved()
          .fill(
              (parameter, memory) -> {
                boolean second = parameter.name().contains("lora_B");
                for (long n = 0; n < parameter.size(); n++) {
                  float value = (float) ((second ? factor : 1) * (n % 3 - 1) / 2);
                  memory.setAtIndex(ValueLayout.JAVA_FLOAT, n, value);
                }
              });
      return stepped(trainer.trainSupervised(batch, LOOK)).loss();
    }
  }
}
