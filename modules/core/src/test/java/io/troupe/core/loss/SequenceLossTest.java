package io.troupe.core.loss;

import static io.troupe.core.loss.GoldenBatch.ALL;
import static io.troupe.core.loss.GoldenBatch.LOG_PROBS;
import static io.troupe.core.loss.GoldenBatch.batch;
import static io.troupe.core.loss.GoldenBatch.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction.Decoupled;
import io.troupe.core.loss.Correction.IcePop;
import io.troupe.core.loss.Correction.None;
import io.troupe.core.loss.Correction.OverCap;
import io.troupe.core.loss.Correction.TruncatedImportance;
import io.troupe.core.loss.Objective.Cispo;
import io.troupe.core.loss.Objective.Dapo;
import io.troupe.core.loss.Objective.Gspo;
import io.troupe.core.train.LossMetrics;
import io.troupe.core.train.StepLoss;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The surrogates and corrections that the golden batch of the source system does not cover. */
final class SequenceLossTest {
  private static final Offset<Double> SINGLE = within(1e-7);

  private static LossMetrics golden(LossSettings s) {
    List<TrainingSequence> batch = batch(LossWeights.of(s.objective(), ALL));
    return StepLoss.of(s, batch, LOG_PROBS, LOG_PROBS, LOG_PROBS);
  }

  /** Log ratios 0.1, -0.5, 0 have the mean -0.4/3; 0.8 and 0 have 0.4, and A = -1 there. */
  @Test
  void gspo_goldenBatch_isTheMeanOfSequenceSurrogates() {
    double first = Math.exp(-.4 / 3);
    double second = Math.exp(.4);
    assertThat(golden(settings(new Gspo(), 0, 0, new None(), 0)).loss())
        .isCloseTo((-first + second) / 2, SINGLE);
    LossMetrics clipped = golden(settings(new Gspo(), .05, .05, new None(), 0));
    assertThat(clipped.loss()).isCloseTo((-first + second) / 2, SINGLE);
    assertThat(clipped.clippedLow()).isEqualTo(3 / 5.);
    assertThat(clipped.clippedHigh()).isEqualTo(2 / 5.);
  }

  @Test
  void gspo_ratioAboveTheRange_stopsTheWholeSequenceWhenItsAdvantageIsPositive() {
    LossSettings s = settings(new Gspo(), .05, .05, new None(), 0);
    TrainingSequence sequence =
        new TrainingSequence(
            new int[] {1}, new int[2], new float[] {-1, -1}, new float[] {.5f, .5f}, 1);
    StepLoss step = new StepLoss();
    double[] now = {-.5, -1};
    assertThat(step.add(s, sequence, new StepLoss.Computed(now, now, now)).byLogProb())
        .containsExactly(0, 0);
    assertThat(step.loss()).isCloseTo(-1.05, SINGLE);
  }

  /** Ratios e^0.1, e^-0.5, 1 with A = 1, and e^0.8, 1 with A = -1; the third is cut to 1.5. */
  @Test
  void cispo_goldenBatch_weighsLogProbsByCutRatios() {
    double sum = Math.exp(.1) * -1 + Math.exp(-.5) * -2 + 1 * -.5 - (1.5 * -.7) - (1 * -1.2);
    LossMetrics step = golden(settings(new Cispo(), 1, .5, new None(), 0));
    assertThat(step.loss()).isCloseTo(-sum / 5, SINGLE);
    assertThat(step.clippedHigh()).isEqualTo(1 / 5.);
  }

  @Test
  void cispo_ratioBeyondTheRange_keepsItsGradient() {
    LossSettings s = settings(new Cispo(), 1, .5, new None(), 0);
    ScalarLoss.TokenLoss token = GoldenBatch.token(s, -.5, -.5, -2.5, 0, 2);
    assertThat(token.derivative()).isEqualTo(-3);
    assertThat(token.clippedHigh()).isTrue();
  }

  @Test
  void icePop_ratioInOrOutOfTheRange_isTheWeightOrNothing() {
    LossSettings s = settings(new Dapo(), .2, .28, new IcePop(.5, 2), 0);
    ScalarLoss.TokenLoss inside = GoldenBatch.token(s, -1, -1, -1.5, 0, 1);
    assertThat(inside.derivative()).isCloseTo(-Math.exp(.5), within(1e-12));
    assertThat(inside.masked()).isFalse();
    ScalarLoss.TokenLoss above = GoldenBatch.token(s, -1, -1, -1.7, 0, 1);
    ScalarLoss.TokenLoss below = GoldenBatch.token(s, -1.7, -1.7, -1, 0, 1);
    for (ScalarLoss.TokenLoss outside : List.of(above, below)) {
      assertThat(outside.value()).isZero();
      assertThat(outside.derivative()).isZero();
      assertThat(outside.masked()).isTrue();
    }
  }

  /**
   * log q = -2 and log p = log p' = -0.8, so that p/q = e^1.2. The proximal policy is e^(1.2
   * (s-1)/s) times q: s = 0 and 1 give weight 1 and ratio e^1.2 = 3.3201169227; s = 2 gives e^0.6 =
   * 1.8221188004 for both; s = 4 the weight e^0.9 = 2.4596031112 and the ratio e^0.3 =
   * 1.3498588076. Clipped at 1.28, the value is -1.28 times the weight.
   */
  @ParameterizedTest
  @CsvSource({
    "0, 1,            3.3201169227, -1.28",
    "1, 1,            3.3201169227, -1.28",
    "2, 1.8221188004, 1.8221188004, -2.3323120645",
    "4, 2.4596031112, 1.3498588076, -3.1482919823"
  })
  void decoupled_staleToken_sharesTheRatioBetweenClipAndWeight(
      int staleness, double weight, double ratio, double clippedValue) {
    ScalarLoss.Token token = new ScalarLoss.Token(-.8, -.8, -2, 0, staleness);
    for (OverCap over : OverCap.values()) {
      ScalarLoss.TokenLoss free =
          ScalarLoss.token(settings(new Dapo(), 0, 0, new Decoupled(5, over), 0), token, 1);
      assertThat(free.value()).isCloseTo(-weight * ratio, within(1e-8));
      assertThat(free.derivative()).isCloseTo(-weight * ratio, within(1e-8));
      ScalarLoss.TokenLoss clipped =
          ScalarLoss.token(settings(new Dapo(), .2, .28, new Decoupled(5, over), 0), token, 1);
      assertThat(clipped.value()).isCloseTo(clippedValue, within(1e-8));
      assertThat(clipped.derivative()).isZero();
    }
  }

  /** The weight e^0.9 = 2.4596 is above a cap of 2; the ratio is e^0.3 = 1.3498588076. */
  @Test
  void decoupled_weightAboveTheCap_isZeroOrTheCap() {
    ScalarLoss.Token token = new ScalarLoss.Token(-.8, -.8, -2, 0, 4);
    ScalarLoss.TokenLoss masked =
        ScalarLoss.token(settings(new Dapo(), 0, 0, new Decoupled(2, OverCap.MASKED), 0), token, 1);
    assertThat(masked.value()).isZero();
    assertThat(masked.derivative()).isZero();
    assertThat(masked.masked()).isTrue();
    assertThat(masked.truncated()).isFalse();
    ScalarLoss.TokenLoss capped =
        ScalarLoss.token(
            settings(new Dapo(), 0, 0, new Decoupled(2, OverCap.TRUNCATED), 0), token, 1);
    assertThat(capped.value()).isCloseTo(-2 * 1.3498588076, within(1e-8));
    assertThat(capped.masked()).isFalse();
    assertThat(capped.truncated()).isTrue();
  }

  @Test
  void decoupled_tokenOfThePresentWeights_isThePlainRatio() {
    ScalarLoss.Token fresh = new ScalarLoss.Token(-1, -1, -1.2, 0, 0);
    assertThat(
            ScalarLoss.token(
                settings(new Dapo(), .2, .28, new Decoupled(5, OverCap.MASKED), 0), fresh, 1))
        .isEqualTo(ScalarLoss.token(settings(new Dapo(), .2, .28, new None(), 0), fresh, 1));
  }

  /** e^800 overflows; its sequence is refused, and its advantage would have made it -infinity. */
  @Test
  void sequenceMask_ratioThatOverflows_leavesNothingOfARefusedSequence() {
    TrainingSequence far =
        new TrainingSequence(
            new int[] {1}, new int[2], new float[] {-801, -1}, new float[] {.5f, .5f}, -1);
    LossSettings s =
        settings(new Dapo(), .2, .28, new None(), 0).with(new SequenceMask.Outlier(.5, 2));
    StepLoss step = new StepLoss();
    double[] now = {-1, -1};
    assertThat(step.add(s, far, new StepLoss.Computed(now, now, now)).byLogProb())
        .containsExactly(0, 0);
    assertThat(step.loss()).isZero();
  }

  /** Geometric means e^(-0.4/3) = 0.875 and e^0.4 = 1.49; extremes 0.61 to 1.11 and 1 to 2.23. */
  @Test
  void sequenceMask_sequenceOutOfTheRange_losesItsSurrogateAndNothingElse() {
    LossSettings all = settings(new Dapo(), 0, 0, new None(), 0);
    LossMetrics geometric = golden(all.with(new SequenceMask.Geometric(.8, 1.2)));
    double first = Math.exp(.1) + Math.exp(-.5) + 1;
    assertThat(geometric.loss()).isCloseTo(-first / 5, SINGLE);
    assertThat(geometric.correctionMasked()).isEqualTo(2 / 5.);
    LossMetrics outlier = golden(all.with(new SequenceMask.Outlier(.7, 2.3)));
    assertThat(outlier.loss()).isCloseTo((Math.exp(.8) + 1) / 5, SINGLE);
    assertThat(outlier.correctionMasked()).isEqualTo(3 / 5.);
  }

  @Test
  void quantiles_goldenBatch_areNearestRank() {
    LossMetrics step = golden(settings(new Dapo(), .2, .28, new TruncatedImportance(2), 0));
    assertThat(step.ratioP50()).isCloseTo(1, SINGLE);
    assertThat(step.ratioP90()).isCloseTo(Math.exp(.8), SINGLE);
    assertThat(step.ratioMax()).isCloseTo(Math.exp(.8), SINGLE);
    assertThat(step.gapMean()).isCloseTo(1.4 / 5, SINGLE);
    assertThat(step.gapP99()).isCloseTo(.8, SINGLE);
    assertThat(step.truncated()).isEqualTo(1 / 5.);
    double[] ratios = {Math.exp(.1), Math.exp(-.5), 1, Math.exp(.8), 1};
    double sum = Arrays.stream(ratios).sum();
    double squares = Arrays.stream(ratios).map(r -> r * r).sum();
    assertThat(step.effectiveShare()).isCloseTo(sum * sum / (5 * squares), SINGLE);
  }

  @Test
  void rewardPenalty_k1_isTheSequencesLogRatio() {
    LossSettings s =
        new LossSettings(new Dapo(), 0, 0, new None(), .5, KlEstimator.K1, 1)
            .with(KlPlacement.REWARD);
    assertThat(KlRewardPenalty.of(s, new float[] {-1, -2}, new double[] {-2, -2.5}).orElseThrow())
        .isCloseTo(1.5, within(1e-12));
    assertThat(
            KlRewardPenalty.of(
                s, new float[] {-1, -2}, new double[] {-2, Double.NEGATIVE_INFINITY}))
        .isEmpty();
    assertThatThrownBy(() -> KlRewardPenalty.of(s, new float[2], new double[1]))
        .hasMessage("2 completion tokens need as many reference log-probabilities, not 1");
  }

  @Test
  void settings_correctionOfAnObjectiveThatNeedsNone_isRefused() {
    assertThatThrownBy(() -> settings(new Gspo(), 0, 0, new TruncatedImportance(2), 0))
        .hasMessage(
            "GSPO takes its ratio to the sampler itself and goes with no correction, not with"
                + " TruncatedImportance[cap=2.0]");
  }

  private static LossSettings random(Random random) {
    List<Objective> objectives = List.of(new Objective.Grpo(), new Dapo(), new Gspo(), new Cispo());
    Objective objective = objectives.get(random.nextInt(objectives.size()));
    List<Correction> corrections =
        List.of(
            new None(),
            new TruncatedImportance(2),
            new IcePop(.5, 2),
            new Decoupled(5, OverCap.MASKED),
            new Decoupled(1.1, OverCap.TRUNCATED));
    return new LossSettings(
        objective,
        random.nextDouble(),
        random.nextDouble(),
        objective.correctsItself() ? new None() : corrections.get(random.nextInt(5)),
        random.nextInt(2) * .3,
        List.of(KlEstimator.values()).get(random.nextInt(3)),
        1);
  }

  /** Start, sampler and reference stay where they are while log p moves. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void sequence_anyLoss_gradientIsTheCentralDifference(long seed) {
    Random random = new Random(seed);
    LossSettings s = random(random);
    int length = 1 + random.nextInt(5);
    float[] behaviour = new float[length];
    float[] weights = new float[length];
    int[] staleness = new int[length];
    List<double[]> numbers = new ArrayList<>();
    for (int t = 0; t < length; t++) {
      behaviour[t] = -3 * random.nextFloat();
      weights[t] = random.nextInt(4) == 0 ? 0 : random.nextFloat();
      staleness[t] = random.nextInt(3);
      double start = behaviour[t] + .3 * random.nextGaussian();
      numbers.add(new double[] {start + .01 * random.nextGaussian(), start, start - .4});
    }
    TrainingSequence sequence =
        new TrainingSequence(
                new int[] {1}, new int[length], behaviour, weights, random.nextGaussian())
            .sampledBehind(staleness);
    double[] gradient = ScalarLoss.sequence(s, sequence, tokens(sequence, numbers)).gradient();
    double h = 1e-7;
    for (int t = 0; t < length; t++) {
      double value = numbers.get(t)[0];
      numbers.get(t)[0] = value + h;
      double above = ScalarLoss.sequence(s, sequence, tokens(sequence, numbers)).loss();
      numbers.get(t)[0] = value - h;
      double below = ScalarLoss.sequence(s, sequence, tokens(sequence, numbers)).loss();
      numbers.get(t)[0] = value;
      assertThat((above - below) / (2 * h))
          .as("token %d under %s", t, s)
          .isCloseTo(gradient[t], within(1e-5));
    }
  }

  private static List<ScalarLoss.Token> tokens(TrainingSequence s, List<double[]> numbers) {
    List<ScalarLoss.Token> tokens = new ArrayList<>();
    for (int t = 0; t < numbers.size(); t++) {
      double[] n = numbers.get(t);
      tokens.add(
          new ScalarLoss.Token(n[0], n[1], s.behaviourLogProbs()[t], n[2], s.staleness()[t]));
    }
    return tokens;
  }
}
