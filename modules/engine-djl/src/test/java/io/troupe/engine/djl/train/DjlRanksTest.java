package io.troupe.engine.djl.train;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static io.troupe.engine.djl.model.Fixtures.stepped;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.base.files.FileTree;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.TokenMarks;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.BarrierGroup;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.model.Tuning.Target;
import io.troupe.engine.djl.model.WeightDecay;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.train.TrainingMode.Activations;
import io.troupe.engine.parallel.ThreadRanks;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A decoder's trainer over ranks against the one of a single thread. */
final class DjlRanksTest {
  @TempDir private static Path scratch;

  private static final LossSettings PENALTY =
      Fixtures.loss(new Correction.None(), .1, KlEstimator.K3).withSupervised(.2);
  private static final int STEPS = 4;

  /** A large epsilon: where a gradient is 0 but for rounding, Adam would make a step of it. */
  private static OptimizerSettings adam(double clip) {
    return new OptimizerSettings(1e-2, .9, .95, 1e-4, .1, clip);
  }

  private static DjlPolicy over(int ranks, DjlPolicy plain) {
    return plain.by(
        () ->
            new ThreadRanks(
                ranks, BarrierGroup::open, scratch, () -> plain.newRank(ranks), _ -> {}));
  }

  private record Trained(
      Map<String, double[]> weights, List<StepOutcome.Stepped> steps, List<TokenMarks> marks) {}

  /** A step of warm-up, a frozen reference, and steps with a penalty and examples. */
  private static void begin(TrainingEngine trainer, OptimizerSettings o) {
    stepped(trainer.trainSupervised(Fixtures.groups(new Random(99), 3, 2), o));
    trainer.freezeReference();
  }

  private static void steps(
      TrainingEngine trainer, int from, int to, int prompts, OptimizerSettings o, Trained into) {
    for (int step = from; step < to; step++) {
      Random random = new Random(step);
      StepOutcome.Stepped done =
          stepped(
              trainer.train(
                  Fixtures.groups(random, prompts, 3), Fixtures.batch(random, 2), PENALTY, o));
      into.steps.add(done);
      into.marks.addAll(done.marks());
    }
  }

  private static Trained train(DjlPolicy policy, int prompts, OptimizerSettings o) {
    try (TrainingEngine trainer = policy.newTrainer(5)) {
      Trained trained = new Trained(new TreeMap<>(), new ArrayList<>(), new ArrayList<>());
      begin(trainer, o);
      steps(trainer, 0, STEPS, prompts, o, trained);
      trained.weights.putAll(Fixtures.weights(trainer));
      return trained;
    }
  }

  private static void assertSame(Trained ranks, Trained whole) {
    whole.weights.forEach(
        (name, values) ->
            Fixtures.assertClose(Fixtures.of(ranks.weights, name), values, 1e-5, () -> name));
    for (int step = 0; step < STEPS; step++) {
      StepOutcome.Stepped one = ranks.steps.get(step);
      StepOutcome.Stepped other = whole.steps.get(step);
      double norm = other.gradientNorm();
      assertThat(one.gradientNorm()).isCloseTo(norm, within(1e-5 * norm));
      assertThat(one.loss()).isCloseTo(other.loss(), within(1e-5));
      assertThat(one.entropy()).isCloseTo(other.entropy(), within(1e-5));
      assertThat(one.metrics().tokens()).isEqualTo(other.metrics().tokens());
    }
    assertThat(ranks.marks).isEqualTo(whole.marks);
  }

  /** 5 prompts of 3 completions go into no number of equal shares; a clip of .05 always cuts. */
  @ParameterizedTest
  @CsvSource({"1,0", "2,0", "4,.05"})
  void train_overRanks_isTheTrainerOfTheWholeBatch(int ranks, double clip) {
    DjlPolicy plain = Fixtures.policy(TINY);
    Trained whole = train(plain, 5, adam(clip));
    assertThat(whole.steps).allMatch(step -> clip == 0 || step.gradientNorm() > clip);
    assertSame(train(over(ranks, plain), 5, adam(clip)), whole);
  }

  @Test
  void train_fewerSequencesThanRanks_sharesMayBeEmpty() {
    DjlPolicy plain = Fixtures.policy(TINY);
    assertSame(train(over(4, plain), 1, adam(1)), train(plain, 1, adam(1)));
  }

  @Test
  void train_adaptersAndSparedTensors_areDividedToo() {
    DjlPolicy plain =
        Fixtures.policy(TINY)
            .trained(
                new TrainingMode(
                        new Tuning.LowRank(2, 4, List.of(Target.values())), Activations.RECOMPUTED)
                    .with(new WeightDecay(List.of("*lora_B*"))));
    assertSame(train(over(2, plain), 4, adam(1)), train(plain, 4, adam(1)));
  }

  /** Checkpoints are whole, so that another number of ranks goes on from them. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void restore_savedByAnotherNumberOfRanks_goesOnAsTheWhole(
      int ranks, @TempDir Path folder, @TempDir Path copy) throws IOException {
    DjlPolicy plain = Fixtures.policy(TINY);
    OptimizerSettings o = adam(1);
    Trained trained = new Trained(new TreeMap<>(), new ArrayList<>(), new ArrayList<>());
    try (TrainingEngine trainer = over(2, plain).newTrainer(5)) {
      begin(trainer, o);
      steps(trainer, 0, STEPS / 2, 5, o, trained);
      trainer.save(folder);
    }
    assertSavedAlike(plain, folder, copy);
    DjlPolicy other = ranks == 1 ? plain : over(ranks, plain);
    try (TrainingEngine trainer = other.newTrainer(6)) {
      trainer.restore(folder);
      steps(trainer, STEPS / 2, STEPS, 5, o, trained);
      trained.weights.putAll(Fixtures.weights(trainer));
    }
    assertSame(trained, train(plain, 5, o));
  }

  /** What ranks wrote by range is what a trainer without ranks writes of it, byte for byte. */
  private static void assertSavedAlike(DjlPolicy plain, Path byRanks, Path copy)
      throws IOException {
    try (TrainingEngine trainer = plain.newTrainer(7)) {
      trainer.restore(byRanks);
      trainer.save(copy);
    }
    List<Path> files = FileTree.files(copy);
    assertThat(files).contains(copy.resolve("trainer/optimizer.safetensors"));
    for (Path file : files) {
      assertThat(byRanks.resolve(copy.relativize(file))).hasSameBinaryContentAs(file);
    }
    assertThat(FileTree.files(byRanks)).hasSameSizeAs(files);
  }

  /**
   * Ranks that begin from a checkpoint round all master weights for their passes themselves; ranks
   * in a group get those of the others rounded.
   */
  @ParameterizedTest
  @EnumSource(Precision.class)
  void train_weightsGatheredFromOtherRanks_haveTheBitsOfACheckpoint(
      Precision precision, @TempDir Path folder) throws IOException {
    DjlPolicy plain =
        DjlPolicy.create(
            TINY, TOKENIZER, ComputeSettings.of(1, 1, 1 << 14).on(Device.host(), precision));
    List<TrainingSequence> batch = Fixtures.batch(new Random(8), 6);
    List<Double> norms = new ArrayList<>();
    List<String> digests = new ArrayList<>();
    try (TrainingEngine trainer = over(2, plain).newTrainer(5)) {
      stepped(trainer.trainSupervised(Fixtures.batch(new Random(7), 6), adam(1)));
      trainer.save(folder);
      norms.add(stepped(trainer.trainSupervised(batch, adam(1))).gradientNorm());
      digests.add(trainer.snapshot(WeightVersion.BASE).digest());
    }
    try (TrainingEngine trainer = over(2, plain).newTrainer(6)) {
      trainer.restore(folder);
      norms.add(stepped(trainer.trainSupervised(batch, adam(1))).gradientNorm());
      digests.add(trainer.snapshot(WeightVersion.BASE).digest());
    }
    assertThat(norms.getFirst()).isEqualTo(norms.getLast());
    assertThat(digests.getFirst()).isEqualTo(digests.getLast());
  }

  /**
   * What ranks write of a version is rounded by each of them; a trainer that takes float32 weights
   * from a checkpoint rounds them itself.
   */
  @ParameterizedTest
  @CsvSource({"FLOAT32,0,F32", "BFLOAT16,0,BF16", "BFLOAT16,2,F32"})
  void snapshot_ofRanks_hasTheDigestOfTheirFloat32Weights(
      Precision precision, int adapterRank, DType written, @TempDir Path folder)
      throws IOException {
    DjlPolicy plain =
        DjlPolicy.create(
            TINY, TOKENIZER, ComputeSettings.of(1, 1, 1 << 14).on(Device.host(), precision));
    if (adapterRank > 0) {
      plain =
          plain.trained(
              new TrainingMode(
                  new Tuning.LowRank(adapterRank, 4, List.of(Target.values())),
                  Activations.RECOMPUTED));
    }
    List<String> digests = new ArrayList<>();
    try (TrainingEngine trainer = over(2, plain).newTrainer(5)) {
      for (int step = 0; step < 2; step++) {
        stepped(trainer.trainSupervised(Fixtures.batch(new Random(step), 6), adam(1)));
        digests.add(trainer.snapshot(WeightVersion.BASE).digest());
      }
      assertThat(typesOfVersion()).containsOnly(written);
      trainer.save(folder);
    }
    try (TrainingEngine trainer = plain.newTrainer(6)) {
      trainer.restore(folder);
      assertThat(trainer.snapshot(WeightVersion.BASE).digest()).isEqualTo(digests.getLast());
    }
    assertThat(digests.getFirst()).isNotEqualTo(digests.getLast());
  }

  private static Set<DType> typesOfVersion() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      return SafetensorsFile.map(scratch.resolve("version-0/weights.safetensors"), arena)
          .tensors()
          .values()
          .stream()
          .map(StoredTensor::dtype)
          .collect(Collectors.toSet());
    }
  }

  @Test
  void train_oneShareNotFinite_skipsOnAllRanksAndGoesOn() {
    DjlPolicy plain = Fixtures.policy(TINY);
    List<TrainingSequence> good = Fixtures.groups(new Random(6), 2, 2);
    List<TrainingSequence> bad = new ArrayList<>(good);
    TrainingSequence s = good.getFirst();
    float[] farBelow = new float[s.completion().length];
    Arrays.fill(farBelow, -1e30f);
    float[] ones = new float[farBelow.length];
    Arrays.fill(ones, 1);
    bad.add(new TrainingSequence(s.prompt(), s.completion(), farBelow, ones, -1));
    try (TrainingEngine trainer = over(2, plain).newTrainer(4)) {
      String before = trainer.snapshot(WeightVersion.BASE).digest();
      assertThat(trainer.train(bad, Fixtures.plainLoss(), adam(1)))
          .isInstanceOfSatisfying(
              StepOutcome.Skipped.class,
              skipped -> assertThat(skipped.reason()).startsWith("the loss is "));
      assertThat(trainer.snapshot(WeightVersion.BASE).digest()).isEqualTo(before);
      stepped(trainer.train(good, Fixtures.plainLoss(), adam(1)));
      assertThat(trainer.snapshot(WeightVersion.BASE).digest()).isNotEqualTo(before);
    }
    plain.close(); // No engine of a rank is left open.
  }
}
