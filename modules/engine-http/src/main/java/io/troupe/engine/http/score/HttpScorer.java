package io.troupe.engine.http.score;

import io.troupe.engine.Scorer;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.Capability;
import io.troupe.engine.http.probe.CapabilityProbe;
import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.RetryPolicy;
import io.troupe.engine.http.protocol.ScoreCodec;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * An inference server that scores: a teacher, or a reference outside this run. Its weights never
 * change; it has passed {@link ScorerCheck}.
 */
public final class HttpScorer implements Scorer {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** Most bytes of an answer besides its scores. */
  private static final long BYTES = 1 << 20;

  /** Most bytes that a server writes for one token: its id, number, rank and text. */
  private static final long BYTES_OF_ONE = 512;

  private final InferenceClient wire;
  private final Capabilities can;
  private final ScoreCodec codec;
  private double[] fingerprint = {};

  private HttpScorer(InferenceClient wire, Capabilities can) {
    this.wire = wire;
    this.can = can;
    this.codec = new ScoreCodec(can.dialect(), can.model());
  }

  /**
   * Opens a server and checks that it is consistent with itself.
   *
   * @throws InferenceCallException if the server does not answer, cannot score, or contradicts
   *     itself; the message says which
   */
  public static HttpScorer open(InferenceEndpoint endpoint) throws InterruptedException {
    return open(endpoint, ScorerCheck.CheckInput.bare(3, 4, 5));
  }

  /**
   * Opens a server and checks it against the requirements of a policy's scorer.
   *
   * @param tokenizer the tokenizer of the policy whose sequences it must score
   * @param contextLength most tokens of such a sequence
   * @param topK number of the most likely tokens that are requested at each position
   * @throws InferenceCallException if the server does not answer, cannot score, or contradicts
   *     itself; the message says which
   */
  public static HttpScorer open(
      InferenceEndpoint endpoint, Tokenizer tokenizer, int contextLength, int topK)
      throws InterruptedException {
    return open(endpoint, ScorerCheck.CheckInput.of(tokenizer, contextLength, topK));
  }

  static HttpScorer open(InferenceEndpoint endpoint, ScorerCheck.CheckInput matter)
      throws InterruptedException {
    InferenceClient wire = new InferenceClient(endpoint);
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
          new ScorerCheck(wire, can, tokens -> scorer.tried(tokens, matter.topK()), matter).pass();
      open = true;
      return scorer;
    } finally {
      if (!open) {
        wire.close();
      }
    }
  }

  /**
   * Scores with the topK that the run uses, because a server may return fewer of the most likely
   * tokens.
   */
  private double[] tried(int[] tokens, int topK)
      throws MalformedResponseException, InterruptedException {
    try {
      return ask(tokens, topK).logProbs();
    } catch (InferenceCallException failed) {
      if (topK == 0 || failed.fault().kind() != CallFailure.Kind.BAD_REQUEST) {
        throw failed;
      }
      throw refusal(
          wire.endpoint(),
          "it does not report the %d most likely tokens of each place (distillation.top_k): %s; %s, or lower distillation.top_k"
              .formatted(topK, failed.fault().message(), topKRemedy(topK)));
    }
  }

  private String topKRemedy(int topK) {
    return switch (can.dialect()) {
      case VLLM, VLLM_GENERATE -> "start it with --max-logprobs %d or more".formatted(topK);
      case TROUPE, SGLANG, LLAMA_SERVER -> "take a server that reports as many";
    };
  }

  private static InferenceCallException refusal(InferenceEndpoint endpoint, String reason) {
    return new InferenceCallException(endpoint, CallFailure.of(CallFailure.Kind.MALFORMED, reason));
  }

  /** The scores of a sequence that identify the server's model. */
  double[] fingerprint() {
    return fingerprint;
  }

  /**
   * Scores a sequence; temporary failures are retried.
   *
   * @throws InferenceCallException if the server does not answer, or its answer is incomplete
   */
  @Override
  public Scores score(int[] tokens, int topK) {
    try {
      return ask(tokens, topK);
    } catch (MalformedResponseException malformed) {
      throw refusal(wire.endpoint(), String.valueOf(malformed.getMessage()));
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
      throw new InferenceCallException(
          wire.endpoint(), CallFailure.of(CallFailure.Kind.NO_ANSWER, "interrupted"));
    }
  }

  private Scores ask(int[] tokens, int topK)
      throws MalformedResponseException, InterruptedException {
    int tries = 0;
    while (true) {
      CallFailure fault;
      try {
        InferenceClient.Response answer =
            wire.post(codec.path(), codec.body(tokens, topK), PATIENCE, mostBytes(tokens, topK));
        if (answer.ok()) {
          return codec.scores(JsonFields.parse(answer.body()), tokens, topK);
        }
        fault = answer.fault();
      } catch (InferenceCallException away) {
        fault = away.fault();
      }
      tries++;
      switch (RetryPolicy.DEFAULT.after(
          fault, tries, 0, PATIENCE, ThreadLocalRandom.current().nextDouble())) {
        case RetryPolicy.RetryDecision.Again(Duration pause) ->
            TimeUnit.MILLISECONDS.sleep(pause.toMillis());
        case RetryPolicy.RetryDecision.GiveUp() ->
            throw new InferenceCallException(wire.endpoint(), fault);
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
