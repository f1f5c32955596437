package io.troupe.engine.djl;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.torch.TorchReport;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Training steps of a tiny decoder whose numbers are known: what they are with DJL's own PyTorch,
 * they must be with any other one, to rounding.
 *
 * @param torch version that computed them
 * @param library folder it was loaded from
 * @param gpus CUDA devices that it sees
 * @param losses of the steps
 * @param norms of the steps' gradients
 */
public record GoldenStep(
    String torch, String library, int gpus, List<Double> losses, List<Double> norms) {
  /** The largest relative distance from the known numbers. */
  public static final double TOLERANCE = 1e-5;

  private static final int STEPS = 3;
  private static final int SEQUENCES = 8;
  private static final int LONGEST = 6;
  private static final long SEED = 7;
  private static final List<Double> KNOWN_LOSSES =
      List.of(0.01166406262472508, -0.047338414547639054, -0.09778193120987712);
  private static final List<Double> KNOWN_NORMS =
      List.of(0.6946459412574768, 0.2430657148361206, 0.7429330945014954);

  public GoldenStep {
    losses = List.copyOf(losses);
    norms = List.copyOf(norms);
  }

  /** Computes the steps on the CPU, and prints them as a line of JSON. */
  public static void main(String[] arguments) throws Exception {
    System.out.println(new JsonMapper().writeValueAsString(compute()));
  }

  /**
   * Computes the steps on the CPU with the PyTorch of this process.
   *
   * @throws IllegalStateException if it cannot be loaded
   */
  public static GoldenStep compute() {
    return compute(Device.host(), Precision.FLOAT32);
  }

  /** Computes the steps on a device; the known numbers are those of float32. */
  public static GoldenStep compute(Device device, Precision precision) {
    TorchReport torch = TorchReport.load();
    CharacterTokenizer tokenizer = new CharacterTokenizer("0123456789+=");
    DjlPolicy policy =
        DjlPolicy.create(
            new DecoderSettings(8, 2, 4, 2, 4, 12, 16, 10_000, 1e-6, true, .5),
            tokenizer,
            ComputeSettings.of(1, 1, 1 << 14).on(device, precision));
    List<TrainingSequence> batch = batch(new Random(SEED), tokenizer.vocabularySize());
    LossSettings loss =
        new LossSettings(
            new Objective.Dapo(), .2, .28, new Correction.None(), 0, KlEstimator.K3, 1);
    OptimizerSettings adam = new OptimizerSettings(1e-2, .9, .95, 1e-8, .1, 1);
    List<Double> losses = new ArrayList<>();
    List<Double> norms = new ArrayList<>();
    try (TrainingEngine trainer = policy.newTrainer(SEED)) {
      for (int step = 0; step < STEPS; step++) {
        switch (trainer.train(batch, loss, adam)) {
          case StepOutcome.Stepped stepped -> {
            losses.add(stepped.loss());
            norms.add(stepped.gradientNorm());
          }
          case StepOutcome.Skipped(String reason) -> throw new IllegalStateException(reason);
        }
      }
    }
    policy.close();
    return new GoldenStep(torch.version(), torch.library(), torch.gpus().size(), losses, norms);
  }

  private static List<TrainingSequence> batch(Random random, int vocabulary) {
    List<TrainingSequence> batch = new ArrayList<>();
    for (int i = 0; i < SEQUENCES; i++) {
      int[] prompt = tokens(random, vocabulary);
      int[] completion = tokens(random, vocabulary);
      float[] behaviour = new float[completion.length];
      float[] weights = new float[completion.length];
      for (int t = 0; t < completion.length; t++) {
        behaviour[t] = (float) (-.5 - 3 * random.nextDouble());
        weights[t] = (float) random.nextDouble() / SEQUENCES;
      }
      batch.add(
          new TrainingSequence(prompt, completion, behaviour, weights, random.nextGaussian()));
    }
    return batch;
  }

  private static int[] tokens(Random random, int vocabulary) {
    return random.ints(1 + random.nextInt(LONGEST), 1, vocabulary).toArray();
  }

  /** The largest relative distance of a number from the known one. */
  public double distance() {
    double most = 0;
    for (int step = 0; step < STEPS; step++) {
      most = Math.max(most, distance(losses.get(step), KNOWN_LOSSES.get(step)));
      most = Math.max(most, distance(norms.get(step), KNOWN_NORMS.get(step)));
    }
    return most;
  }

  private static double distance(double computed, double known) {
    return Double.isFinite(computed)
        ? Math.abs(computed - known) / Math.abs(known)
        : Double.POSITIVE_INFINITY;
  }
}
