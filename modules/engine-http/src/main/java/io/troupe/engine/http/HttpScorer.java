package io.troupe.engine.http;

import io.troupe.engine.SamplingSettings;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.Draw;
import io.troupe.engine.http.protocol.Fault;
import io.troupe.engine.http.protocol.Fields;
import io.troupe.engine.http.protocol.MalformedAnswerException;
import io.troupe.engine.http.protocol.Piece;
import io.troupe.engine.http.protocol.Retry;
import io.troupe.engine.http.protocol.ScoreCodec;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A server that scores: a teacher, or a reference that is not this run's own. Its weights are its
 * own and stay as they are.
 *
 * <p>Before its first score it is held to itself: what it says of tokens that it drew must be what
 * it said when it drew them. A server that adds a token to prompts, shifts the places, or tells
 * another distribution than it draws from, does not pass.
 */
public final class HttpScorer implements ScoringEngine {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int[] GOLDEN_PROMPT = {3, 4, 5};
  private static final int GOLDEN_TOKENS = 8;

  /** Rounding of bfloat16 between reading at once and token by token. */
  private static final double GOLDEN_TOLERANCE = 0.25;

  private final Wire wire;
  private final Capabilities can;
  private final ScoreCodec codec;

  private HttpScorer(Wire wire, Capabilities can) {
    this.wire = wire;
    this.can = can;
    this.codec = new ScoreCodec(can.dialect(), can.model());
  }

  /**
   * Looks at a server, and holds it to itself.
   *
   * @throws EndpointException if it does not answer, cannot score, or contradicts itself; says so
   */
  public static HttpScorer open(Endpoint endpoint) throws InterruptedException {
    Wire wire = new Wire(endpoint);
    boolean open = false;
    try {
      Capabilities can = CapabilityProbe.probe(wire);
      if (!can.has(Capability.PROMPT_LOG_PROBS)) {
        throw refusal(
            endpoint,
            "it lacks prompt_log_probs: " + Capability.PROMPT_LOG_PROBS.remedy(can.dialect()));
      }
      HttpScorer scorer = new HttpScorer(wire, can);
      scorer.holdToItself();
      open = true;
      return scorer;
    } finally {
      if (!open) {
        wire.close();
      }
    }
  }

  private static EndpointException refusal(Endpoint endpoint, String reason) {
    return new EndpointException(endpoint, Fault.of(Fault.Kind.MALFORMED, reason), 0);
  }

  private void holdToItself() throws InterruptedException {
    Draw draw =
        new Draw(
            "golden",
            can.model(),
            GOLDEN_PROMPT,
            1,
            new SamplingSettings(1, GOLDEN_TOKENS),
            GOLDEN_TOKENS,
            1,
            "",
            Duration.ZERO);
    Wire.Answer answer =
        wire.post(can.dialect().codec().path(), can.dialect().codec().body(draw, false), PATIENCE);
    if (!answer.ok()) {
      throw new EndpointException(wire.endpoint(), answer.fault(), 0);
    }
    try {
      Piece drawn = can.dialect().codec().pieces(Fields.parse(answer.body())).getFirst();
      int[] all = Arrays.copyOf(GOLDEN_PROMPT, GOLDEN_PROMPT.length + drawn.tokens().length);
      System.arraycopy(drawn.tokens(), 0, all, GOLDEN_PROMPT.length, drawn.tokens().length);
      double[] said = ask(all, 0).logProbs();
      for (int i = 0; i < drawn.tokens().length; i++) {
        double again = said[GOLDEN_PROMPT.length - 1 + i];
        if (!(Math.abs(again - drawn.logProbs()[i]) <= GOLDEN_TOLERANCE)) {
          throw refusal(
              wire.endpoint(),
              "it drew token %d with log-probability %s and says %s when it reads it in a prompt; a"
                      .formatted(i, drawn.logProbs()[i], again)
                  + " teacher must tell both at temperature 1, of the same tokens");
        }
      }
    } catch (MalformedAnswerException malformed) {
      throw refusal(wire.endpoint(), String.valueOf(malformed.getMessage()));
    }
  }

  /** What it is, for the log. */
  public String line() {
    return can.line();
  }

  /** Kind of server. */
  public Dialect dialect() {
    return can.dialect();
  }

  /**
   * Refused: its weights are its own.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public void load(WeightSnapshot weights) {
    throw new UnsupportedOperationException("the weights of a scoring server are its own");
  }

  /**
   * Scores a sequence; what fails for the moment is tried again.
   *
   * @throws EndpointException if the server does not answer, or not in full
   */
  @Override
  public Scores score(int[] tokens, int topK) {
    try {
      return ask(tokens, topK);
    } catch (MalformedAnswerException malformed) {
      throw refusal(wire.endpoint(), String.valueOf(malformed.getMessage()));
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
      throw refusal(wire.endpoint(), "interrupted");
    }
  }

  private Scores ask(int[] tokens, int topK) throws MalformedAnswerException, InterruptedException {
    int tries = 0;
    while (true) {
      Fault fault;
      try {
        Wire.Answer answer = wire.post(codec.path(), codec.body(tokens, topK), PATIENCE);
        if (answer.ok()) {
          return codec.scores(Fields.parse(answer.body()), tokens, topK);
        }
        fault = answer.fault();
      } catch (EndpointException away) {
        fault = away.fault();
      }
      tries++;
      switch (Retry.DEFAULT.after(
          fault, tries, 0, PATIENCE, ThreadLocalRandom.current().nextDouble())) {
        case Retry.Decision.Again(Duration pause) -> TimeUnit.MILLISECONDS.sleep(pause.toMillis());
        case Retry.Decision.GiveUp() -> throw new EndpointException(wire.endpoint(), fault, 0);
      }
    }
  }

  @Override
  public void close() {
    wire.close();
  }
}
