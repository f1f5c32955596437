package io.troupe.engine.http;

import io.troupe.engine.Scorer;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.Fault;
import io.troupe.engine.http.protocol.Fields;
import io.troupe.engine.http.protocol.MalformedAnswerException;
import io.troupe.engine.http.protocol.Retry;
import io.troupe.engine.http.protocol.ScoreCodec;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A server that scores: a teacher, or a reference that is not this run's own. Its weights are its
 * own and stay as they are; {@link ScorerTrial} is what it has passed.
 */
public final class HttpScorer implements Scorer {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** Of an answer beside its scores. */
  private static final long BYTES = 1 << 20;

  /** Most that a server writes of one token: its id, number, rank and text. */
  private static final long BYTES_OF_ONE = 512;

  private final Wire wire;
  private final Capabilities can;
  private final ScoreCodec codec;
  private double[] fingerprint = {};

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
    return open(endpoint, ScorerTrial.Matter.bare(3, 4, 5));
  }

  /**
   * Looks at a server, and holds it to what a policy's scorer must do.
   *
   * @param tokenizer of the policy whose sequences it is to score
   * @param contextLength most tokens of such a sequence
   * @param topK how many of the most likely tokens it is asked for in each place
   * @throws EndpointException if it does not answer, cannot score, or contradicts itself; says so
   */
  public static HttpScorer open(Endpoint endpoint, Tokenizer tokenizer, int contextLength, int topK)
      throws InterruptedException {
    return open(endpoint, ScorerTrial.Matter.of(tokenizer, contextLength, topK));
  }

  static HttpScorer open(Endpoint endpoint, ScorerTrial.Matter matter) throws InterruptedException {
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
      scorer.fingerprint =
          new ScorerTrial(wire, can, tokens -> scorer.tried(tokens, matter.topK()), matter).pass();
      open = true;
      return scorer;
    } finally {
      if (!open) {
        wire.close();
      }
    }
  }

  /** Asked as the run will ask: a server may tell fewer of the most likely tokens than that. */
  private double[] tried(int[] tokens, int topK)
      throws MalformedAnswerException, InterruptedException {
    try {
      return ask(tokens, topK).logProbs();
    } catch (EndpointException failed) {
      if (topK == 0 || failed.fault().kind() != Fault.Kind.BAD_REQUEST) {
        throw failed;
      }
      throw refusal(
          wire.endpoint(),
          "it does not tell the %d most likely tokens of each place (distillation.top_k): %s; %s, or lower distillation.top_k"
              .formatted(topK, failed.fault().message(), topKRemedy(topK)));
    }
  }

  private String topKRemedy(int topK) {
    return switch (can.dialect()) {
      case VLLM, VLLM_GENERATE -> "start it with --max-logprobs %d or more".formatted(topK);
      case TROUPE, SGLANG, LLAMA_SERVER -> "take a server that tells so many";
    };
  }

  private static EndpointException refusal(Endpoint endpoint, String reason) {
    return new EndpointException(endpoint, Fault.of(Fault.Kind.MALFORMED, reason));
  }

  /** What it says of a sequence by which it is known again. */
  double[] fingerprint() {
    return fingerprint;
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
      throw new EndpointException(wire.endpoint(), Fault.of(Fault.Kind.NO_ANSWER, "interrupted"));
    }
  }

  private Scores ask(int[] tokens, int topK) throws MalformedAnswerException, InterruptedException {
    int tries = 0;
    while (true) {
      Fault fault;
      try {
        Wire.Answer answer =
            wire.post(codec.path(), codec.body(tokens, topK), PATIENCE, mostBytes(tokens, topK));
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
        case Retry.Decision.GiveUp() -> throw new EndpointException(wire.endpoint(), fault);
      }
    }
  }

  private static long mostBytes(int[] tokens, int topK) {
    return BYTES + (long) tokens.length * (topK + 1) * BYTES_OF_ONE;
  }

  @Override
  public void close() {
    wire.close();
  }
}
