package io.troupe.config.plan;

import io.troupe.config.RunConfig;
import io.troupe.core.advantage.OverlongPunishment;
import io.troupe.core.advantage.StepRewards;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.KlRewardPenalty;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.ScalarLoss;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StalenessBound;
import io.troupe.core.train.TrainingBatch;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * One training step in numbers, under the loss of a configuration: groups of four completions of up
 * to eight tokens, up to three versions old, whose ratios lie on both sides of every usual bound.
 * As in a run, the trainer's probabilities are those of the step's start, because a step is one
 * update; and the engines compute alike, but for rounding and a rare token.
 */
final class SyntheticStep {
  private static final long SEED = 5;
  private static final int LIMIT = 8;
  private static final int TRAINER = 3;
  private static final int GROUPS = 40;
  private static final int COMPLETIONS = 4;

  /** A difference that the next token makes up for, so that the sequence's mean stays near 0. */
  private static final double BALANCED = .9;

  private static final double[] RARE = {-12, .8, -.2, .15, BALANCED, BALANCED};
  private static final double[][] REWARDS = {
    {1, 0, 0, 0}, {.25, 1, .5, 0}, {1, 1, 0, 1}, {1, 1, 1, 1}
  };

  private final RunConfig config;
  private final boolean onPolicy;
  private final LossSettings loss;
  private final Random random = new Random(SEED);
  private double owed;
  private final List<List<List<ScalarLoss.Token>>> tokens = new ArrayList<>();

  /**
   * Creates a step.
   *
   * @param onPolicy whether every token is of the trainer's own version, sampled by an engine that
   *     computes exactly as the trainer does
   */
  SyntheticStep(RunConfig config, boolean onPolicy) {
    this.config = config;
    this.onPolicy = onPolicy;
    this.loss = config.lossSettings();
  }

  /**
   * The derivative of the loss by each token's log-probability, an element a sequence; sequences of
   * the groups in order, degenerate ones filtered where the configuration says so.
   */
  List<Gradient> gradients() {
    List<ScoredGroup> groups = new ArrayList<>();
    for (int g = 0; g < GROUPS; g++) {
      ScoredGroup group = group(g);
      boolean degenerate = Arrays.stream(rewards(g)).distinct().count() == 1;
      if (degenerate && config.training().filterDegenerate()) {
        tokens.removeLast();
      } else {
        groups.add(group);
      }
    }
    StepRewards rewards = rewards(groups);
    int episodes = groups.size() * COMPLETIONS;
    TrainingBatch batch =
        TrainingBatch.of(
            groups,
            rewards,
            Collections.nCopies(episodes, true),
            loss,
            new StalenessBound(config.training().maxStaleness()),
            new WeightVersion(TRAINER));
    List<Gradient> gradients = new ArrayList<>();
    for (int i = 0; i < batch.sequences().size(); i++) {
      TrainingSequence sequence = batch.sequences().get(i);
      int group = i / COMPLETIONS;
      int own = i % COMPLETIONS;
      double[] gradient =
          ScalarLoss.sequence(loss, sequence, tokens.get(group).get(own)).gradient();
      List<Float> weights = new ArrayList<>();
      for (float weight : sequence.lossWeights()) {
        weights.add(weight);
      }
      gradients.add(
          new Gradient(
              group,
              rewards.total().get(group)[own],
              sequence.advantage(),
              weights,
              Arrays.stream(gradient).boxed().toList()));
    }
    return gradients;
  }

  /**
   * The gradient of one sequence.
   *
   * @param reward with its penalties
   * @param weights loss weights, an element a token
   */
  record Gradient(
      int group, double reward, double advantage, List<Float> weights, List<Double> byLogProb) {}

  private StepRewards rewards(List<ScoredGroup> groups) {
    StepRewards rewards = StepRewards.of(groups.stream().map(ScoredGroup::rewardArray).toList());
    OverlongPunishment punishment = loss.overlong().punishment();
    if (punishment.active()) {
      rewards =
          rewards.with(
              punishment.factor(),
              groups.stream().map(group -> punished(group, punishment)).toList());
    }
    if (loss.penalisesReward()) {
      rewards =
          rewards.with(
              -loss.kl().coefficient(),
              IntStream.range(0, groups.size()).mapToObj(this::penalties).toList());
    }
    return rewards;
  }

  private static double[] punished(ScoredGroup group, OverlongPunishment punishment) {
    return group.completions().stream()
        .mapToDouble(completion -> punishment.share(completion.length(), LIMIT))
        .toArray();
  }

  private double[] penalties(int group) {
    return tokens.get(group).stream()
        .mapToDouble(
            sequence -> {
              float[] behaviour = new float[sequence.size()];
              double[] reference = new double[sequence.size()];
              for (int t = 0; t < behaviour.length; t++) {
                behaviour[t] = (float) sequence.get(t).behaviourLogProb();
                reference[t] = sequence.get(t).referenceLogProb();
              }
              return KlRewardPenalty.of(loss, behaviour, reference).orElseThrow();
            })
        .toArray();
  }

  private ScoredGroup group(int number) {
    List<Completion> completions = new ArrayList<>();
    List<List<ScalarLoss.Token>> sequences = new ArrayList<>();
    for (int i = 0; i < COMPLETIONS; i++) {
      int length = i == 1 ? LIMIT : 2 + random.nextInt(LIMIT - 1);
      long oldest = onPolicy ? TRAINER : random.nextInt(TRAINER + 1);
      long[] versions = new long[length];
      float[] behaviour = new float[length];
      List<ScalarLoss.Token> sequence = new ArrayList<>();
      for (int t = 0; t < length; t++) {
        versions[t] = Math.min(TRAINER, oldest + 2 * t / length);
        int staleness = (int) (TRAINER - versions[t]);
        double trainer = -.2 - random.nextDouble();
        double moved = staleness * .2 * random.nextGaussian() + mismatch();
        behaviour[t] = (float) Math.min(0, trainer + moved + sharpened());
        double reference = trainer + .1 * random.nextGaussian();
        sequence.add(new ScalarLoss.Token(trainer, trainer, behaviour[t], reference, staleness));
      }
      completions.add(
          new Completion(
              new int[length],
              behaviour,
              TokenVersions.of(versions),
              length == LIMIT ? FinishReason.LENGTH : FinishReason.STOP));
      sequences.add(sequence);
    }
    tokens.add(sequences);
    return ScoredGroup.ofCompletions(
        new LeaseId(new GroupId(number + 1), 1),
        new int[] {number},
        completions,
        Arrays.stream(rewards(number)).boxed().toList());
  }

  private static double[] rewards(int group) {
    return REWARDS[group % REWARDS.length];
  }

  /** The difference of two engines: rounding, and a few tokens that are far off. */
  private double mismatch() {
    double rounding = .01 * random.nextGaussian();
    boolean far = random.nextInt(8) == 0;
    double rare = far ? RARE[random.nextInt(RARE.length)] : -owed;
    owed = far && rare == BALANCED ? rare : 0;
    return onPolicy ? 0 : rounding + rare;
  }

  /** What a sampler that leaves tokens out adds to the log-probability of those it keeps. */
  private double sharpened() {
    double share = .15 * random.nextDouble();
    return config.sampling().truncates() || config.sampling().penalises() ? share : 0;
  }
}
