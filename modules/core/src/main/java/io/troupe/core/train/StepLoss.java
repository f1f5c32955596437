package io.troupe.core.train;

import static io.troupe.core.Require.require;

import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.ScalarDistillation;
import io.troupe.core.loss.ScalarLoss;
import io.troupe.core.loss.ScalarLoss.SequenceLoss;
import io.troupe.core.loss.ScalarLoss.Token;
import io.troupe.core.loss.ScalarLoss.TokenLoss;
import io.troupe.core.loss.TrainingSequence;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Adds up the loss of a step, sequence by sequence, and answers each with the derivatives to
 * propagate back.
 *
 * <p>The loss weights already hold the step's denominators, so neither loss nor derivatives depend
 * on the order of the sequences, but for the rounding of a sum in double precision.
 */
public final class StepLoss {
  private static final int FIRST_CAPACITY = 1 << 10;

  private double loss;
  private double distillation;
  private double supervisedLoss;
  private double behaviourKl;
  private double referenceKl;
  private double referenceKlMax = Double.NEGATIVE_INFINITY;
  private long low;
  private long high;
  private long truncated;
  private long masked;
  private long supervisedTokens;

  /** log p - log q of each token so far, and how many there are. */
  private double[] logRatios = new double[FIRST_CAPACITY];

  private int tokens;

  /** The number of tokens that a teacher judged. */
  private long taughtTokens;

  /** Sequences in which a token has a mark. */
  private final IdentityHashMap<TrainingSequence, TokenMarks> marks = new IdentityHashMap<>();

  /**
   * The trainer's values of a rollout, an element a completion token. Where there is no weight,
   * nothing is read.
   *
   * @param logProbs log p
   * @param stepStartLogProbs log p': the same numbers where a step is a single update
   * @param referenceLogProbs log p_ref; not read without a penalty in the loss, where {@code
   *     logProbs} may be given
   * @param ofTeacherTokens log-probabilities of the teacher's K tokens; not read without a teacher
   * @param entropies H of the policy; not read without a bonus for it
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Computed(
      double[] logProbs,
      double[] stepStartLogProbs,
      double[] referenceLogProbs,
      double[][] ofTeacherTokens,
      double[] entropies) {
    /** Creates the values of a step without a teacher and without a bonus for entropy. */
    public Computed(double[] logProbs, double[] stepStartLogProbs, double[] referenceLogProbs) {
      this(logProbs, stepStartLogProbs, referenceLogProbs, new double[0][], new double[0]);
    }
  }

  /**
   * Derivatives of the step's loss.
   *
   * @param byLogProb by log p of each completion token
   * @param byTeacherToken by log p of the teacher's K tokens; no rows without a teacher
   * @param byEntropy by the entropy at each completion token; none without a bonus for it
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Derivatives(double[] byLogProb, double[][] byTeacherToken, double[] byEntropy) {}

  /** The loss of a step without a teacher, which {@link #add} makes of its sequences in order. */
  public static LossMetrics of(
      LossSettings s,
      List<TrainingSequence> batch,
      List<double[]> logProbs,
      List<double[]> stepStartLogProbs,
      List<double[]> referenceLogProbs) {
    StepLoss step = new StepLoss();
    for (int i = 0; i < batch.size(); i++) {
      step.add(
          s,
          batch.get(i),
          new Computed(logProbs.get(i), stepStartLogProbs.get(i), referenceLogProbs.get(i)));
    }
    return step.metrics();
  }

  /** The sum so far. */
  public double loss() {
    return loss;
  }

  /** Adds a rollout. */
  public Derivatives add(LossSettings s, TrainingSequence sequence, Computed computed) {
    int length = sequence.completion().length;
    requireLength("log-probabilities", length, computed.logProbs.length);
    requireLength(
        "log-probabilities of the step's start", length, computed.stepStartLogProbs.length);
    requireLength("reference log-probabilities", length, computed.referenceLogProbs.length);
    List<Token> all = new ArrayList<>(length);
    for (int t = 0; t < length; t++) {
      all.add(
          new Token(
              computed.logProbs[t],
              computed.stepStartLogProbs[t],
              sequence.behaviourLogProbs()[t],
              computed.referenceLogProbs[t],
              sequence.staleness()[t]));
    }
    SequenceLoss own = ScalarLoss.sequence(s, sequence, all);
    loss += own.loss();
    long marked = marked();
    for (TokenLoss token : own.tokens()) {
      behaviourKl += token.behaviourKl();
      referenceKl += token.referenceKl();
      referenceKlMax = Math.max(referenceKlMax, token.referenceKl());
      low += token.clippedLow() ? 1 : 0;
      high += token.clippedHigh() ? 1 : 0;
      truncated += token.truncated() ? 1 : 0;
      masked += token.masked() ? 1 : 0;
    }
    if (marked() > marked) {
      marks.put(sequence, TokenMarks.of(sequence.lossWeights(), own.tokens()));
    }
    for (int t = 0; t < length; t++) {
      if (sequence.lossWeights()[t] != 0) {
        keep(all.get(t).logProb() - all.get(t).behaviourLogProb());
      }
    }
    return new Derivatives(
        own.gradient(),
        distilled(s.shares().distillation(), sequence, computed.ofTeacherTokens),
        rewarded(s, sequence, computed.entropies));
  }

  private double[] rewarded(LossSettings s, TrainingSequence sequence, double[] entropies) {
    if (!s.rewardsEntropy()) {
      return new double[0];
    }
    float[] weights = sequence.lossWeights();
    requireLength("entropies", weights.length, entropies.length);
    double[] derivatives = new double[weights.length];
    for (int t = 0; t < weights.length; t++) {
      if (weights[t] != 0) {
        derivatives[t] = -s.shares().entropy() * weights[t];
        loss += derivatives[t] * entropies[t];
      }
    }
    return derivatives;
  }

  private long marked() {
    return low + high + truncated + masked;
  }

  private double[][] distilled(
      Distillation distillation, TrainingSequence sequence, double[][] logProbs) {
    if (distillation instanceof Distillation.None || sequence.teacherWeight() == 0) {
      return new double[0][];
    }
    int length = sequence.completion().length;
    requireLength("rows of the teacher's tokens", length, sequence.teacher().ids().length);
    requireLength("rows of the teacher's tokens, computed,", length, logProbs.length);
    double[][] derivatives = new double[length][sequence.teacher().topK()];
    for (int t = 0; t < length; t++) {
      double weight = sequence.lossWeights()[t] * sequence.teacherWeight();
      if (weight != 0) {
        ScalarDistillation.Term term =
            ScalarDistillation.token(distillation, sequence.teacher().logProbs()[t], logProbs[t]);
        loss += weight * term.value();
        this.distillation += term.divergence();
        taughtTokens++;
        for (int k = 0; k < derivatives[t].length; k++) {
          derivatives[t][k] = weight * term.derivatives()[k];
        }
      }
    }
    return derivatives;
  }

  /**
   * Adds an example to imitate: coefficient times the weighted negative log-likelihood of its
   * completion. Advantage and behaviour log-probabilities are not read.
   *
   * @param logProbs log p at temperature 1
   * @return the derivatives by them
   */
  public double[] supervised(TrainingSequence example, double coefficient, double[] logProbs) {
    float[] weights = example.lossWeights();
    requireLength("log-probabilities", weights.length, logProbs.length);
    double[] gradient = new double[weights.length];
    for (int t = 0; t < weights.length; t++) {
      if (weights[t] != 0) {
        supervisedLoss -= weights[t] * logProbs[t];
        loss -= coefficient * weights[t] * logProbs[t];
        gradient[t] = -coefficient * weights[t];
        supervisedTokens++;
      }
    }
    return gradient;
  }

  /**
   * The results of some sequences of a step, in numbers that add up.
   *
   * @param logRatios log p - log q of each token
   * @param marks of the part's rollouts, in order
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Part(
      double loss,
      double distillation,
      double supervisedLoss,
      double behaviourKl,
      double referenceKl,
      double referenceKlMax,
      long low,
      long high,
      long truncated,
      long masked,
      long supervisedTokens,
      long taughtTokens,
      double[] logRatios,
      List<TokenMarks> marks) {
    public Part {
      marks = List.copyOf(marks);
    }
  }

  /** Returns the present sums as a part of a step. */
  public Part part(List<TrainingSequence> rollouts) {
    return new Part(
        loss,
        distillation,
        supervisedLoss,
        behaviourKl,
        referenceKl,
        referenceKlMax,
        low,
        high,
        truncated,
        masked,
        supervisedTokens,
        taughtTokens,
        Arrays.copyOf(logRatios, tokens),
        marks(rollouts));
  }

  /** Adds another part of the same step, but for its marks, which are in the part. */
  public void add(Part part) {
    loss += part.loss;
    distillation += part.distillation;
    supervisedLoss += part.supervisedLoss;
    behaviourKl += part.behaviourKl;
    referenceKl += part.referenceKl;
    referenceKlMax = Math.max(referenceKlMax, part.referenceKlMax);
    low += part.low;
    high += part.high;
    truncated += part.truncated;
    masked += part.masked;
    supervisedTokens += part.supervisedTokens;
    taughtTokens += part.taughtTokens;
    for (double logRatio : part.logRatios) {
      keep(logRatio);
    }
  }

  /**
   * The marks of rollouts that were added here.
   *
   * @param rollouts the very objects; what was not added has no marks
   * @return one each, in order
   */
  public List<TokenMarks> marks(List<TrainingSequence> rollouts) {
    return rollouts.stream()
        .map(sequence -> marks.getOrDefault(sequence, TokenMarks.NONE))
        .toList();
  }

  /** Returns the metrics of the step. */
  public LossMetrics metrics() {
    double n = Math.max(tokens, 1);
    double[] ratios = Arrays.copyOf(logRatios, tokens);
    double[] gaps = new double[tokens];
    double gapSum = 0;
    for (int i = 0; i < tokens; i++) {
      gaps[i] = Math.abs(ratios[i]);
      gapSum += gaps[i];
    }
    Arrays.sort(ratios);
    Arrays.sort(gaps);
    return new LossMetrics(
        loss,
        distillation / Math.max(taughtTokens, 1),
        supervisedLoss,
        behaviourKl / n,
        gapSum / n,
        quantile(gaps, .99),
        quantile(gaps, 1),
        referenceKl / n,
        tokens == 0 ? 0 : referenceKlMax,
        low / n,
        high / n,
        ratio(ratios, .5),
        ratio(ratios, .9),
        ratio(ratios, .99),
        ratio(ratios, 1),
        effectiveShare(ratios),
        truncated / n,
        masked / n,
        tokens,
        supervisedTokens);
  }

  private void keep(double logRatio) {
    if (tokens == logRatios.length) {
      logRatios = Arrays.copyOf(logRatios, Math.multiplyExact(2, tokens));
    }
    logRatios[tokens++] = logRatio;
  }

  private static double ratio(double[] sortedLogRatios, double q) {
    return sortedLogRatios.length == 0 ? 0 : StrictMath.exp(quantile(sortedLogRatios, q));
  }

  private static double quantile(double[] sorted, double q) {
    return sorted.length == 0 ? 0 : sorted[(int) Math.ceil(q * sorted.length) - 1];
  }

  /** On ratios relative to the largest, so that no square overflows. */
  private static double effectiveShare(double[] sortedLogRatios) {
    double sum = 0;
    double squares = 0;
    for (double logRatio : sortedLogRatios) {
      double ratio = StrictMath.exp(logRatio - sortedLogRatios[sortedLogRatios.length - 1]);
      sum += ratio;
      squares += ratio * ratio;
    }
    return squares == 0 ? 0 : sum * sum / (sortedLogRatios.length * squares);
  }

  private static void requireLength(String what, int expected, int actual) {
    require(
        expected == actual,
        "a sequence of %d completion tokens needs as many %s, not %d",
        expected,
        what,
        actual);
  }
}
