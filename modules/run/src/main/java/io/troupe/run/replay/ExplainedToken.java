package io.troupe.run.replay;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.ScalarLoss;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.Tokenizer;
import io.troupe.runtime.TrainerTasks.StepTokens;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A token of a completion as its training step saw it, before the weights moved.
 *
 * @param place in the completion, from 0
 * @param id in the vocabulary
 * @param text that it stands for
 * @param version of the weights that sampled it
 * @param staleness in versions
 * @param samplerLogProb log q, in nats
 * @param lossWeight 0 where the token is stale or masked
 * @param inLoss the loss's treatment of the token; without meaning where the loss weight is 0
 */
public record ExplainedToken(
    int place,
    int id,
    String text,
    long version,
    int staleness,
    float samplerLogProb,
    float lossWeight,
    InLoss inLoss) {
  /**
   * The loss's treatment of a token.
   *
   * @param trainerLogProb log p, in nats
   * @param correction w, the weight of the off-policy correction
   * @param clipped {@code low}, {@code high} or empty: on which side of the clip range p/q lies
   * @param masked whether the correction or the sequence mask left it out
   * @param derivative of its loss by log p, before the loss weight
   */
  public record InLoss(
      double trainerLogProb, double correction, String clipped, boolean masked, double derivative) {
    private static final InLoss NONE = new InLoss(Double.NaN, 0, "", false, 0);
  }

  /** p/q; not a number where the token has no loss weight. */
  public double ratio() {
    return Math.exp(inLoss.trainerLogProb() - samplerLogProb);
  }

  /** The tokens of a row of a step's batch. */
  static List<ExplainedToken> of(
      StepTokens step, int row, TokenVersions versions, Tokenizer tokenizer) {
    TrainingSequence sequence = step.sequences().get(row);
    int[] ids = sequence.completion();
    float[] behind = sequence.behaviourLogProbs();
    float[] weights = sequence.lossWeights();
    double[] now = step.logProbs().get(row);
    List<ScalarLoss.Token> seen = new ArrayList<>();
    for (int t = 0; t < ids.length; t++) {
      double reference =
          step.referenceLogProbs().isEmpty() ? 0 : step.referenceLogProbs().get(row)[t];
      seen.add(new ScalarLoss.Token(now[t], now[t], behind[t], reference, sequence.staleness()[t]));
    }
    List<ScalarLoss.TokenLoss> losses = ScalarLoss.sequence(step.loss(), sequence, seen).tokens();
    List<ExplainedToken> tokens = new ArrayList<>();
    int weighted = 0;
    for (int t = 0; t < ids.length; t++) {
      tokens.add(
          new ExplainedToken(
              t,
              ids[t],
              tokenizer.decode(new int[] {ids[t]}),
              version(versions, t),
              sequence.staleness()[t],
              behind[t],
              weights[t],
              weights[t] == 0
                  ? InLoss.NONE
                  : inLoss(
                      now[t],
                      ScalarLoss.correctionWeight(step.loss(), seen.get(t)),
                      losses.get(weighted++))));
    }
    return tokens;
  }

  private static InLoss inLoss(double now, double correction, ScalarLoss.TokenLoss loss) {
    String clipped = loss.clippedLow() ? "low" : loss.clippedHigh() ? "high" : "";
    return new InLoss(now, correction, clipped, loss.masked(), loss.derivative());
  }

  private static long version(TokenVersions versions, int token) {
    int begun = 0;
    for (TokenVersions.Span span : versions.spans()) {
      begun += span.tokens();
      if (token < begun) {
        return span.version().number();
      }
    }
    throw new IllegalArgumentException(
        "token %d of a completion of %d".formatted(token, versions.tokens()));
  }

  /** For JSON. */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("token", place);
    map.put("id", id);
    map.put("text", text);
    map.put("version", version);
    map.put("staleness", staleness);
    map.put("sampler_log_prob", samplerLogProb);
    map.put("loss_weight", lossWeight);
    if (lossWeight != 0) {
      map.put("trainer_log_prob", inLoss.trainerLogProb());
      map.put("ratio", ratio());
      map.put("correction", inLoss.correction());
      map.put("clipped", inLoss.clipped());
      map.put("masked", inLoss.masked());
      map.put("derivative", inLoss.derivative());
    }
    return map;
  }
}
