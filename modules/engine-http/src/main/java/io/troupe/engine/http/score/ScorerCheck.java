package io.troupe.engine.http.score;

import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.ProbeSample;
import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.CompletionChunk;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks a scoring server before its first score. The server must read sequences as long as the
 * policy's, tokenize texts like the policy, return the same scores for the same tokens twice, and
 * return for tokens that it sampled the log-probabilities that it reported when it sampled them. A
 * server fails if it adds a token to prompts, shifts the positions, or returns scores of another
 * distribution than it samples from.
 */
public final class ScorerCheck {
  private static final Logger LOG = LoggerFactory.getLogger(ScorerCheck.class);
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int PROMPT_TOKENS = 3;
  private static final int DRAWN_TOKENS = 8;
  private static final int TEXT_TOKENS = 48;

  /** Rounding of bfloat16 between scoring a sequence at once and sampling it token by token. */
  private static final double SAMPLE_TOLERANCE = 0.25;

  /** Rounding between two scores, of which one may come from a prefix cache. */
  static final double TOLERANCE = 0.05;

  /** Scores a sequence. */
  @FunctionalInterface
  interface ScoreCall {
    double[] logProbs(int[] tokens) throws MalformedResponseException, InterruptedException;
  }

  private final InferenceClient wire;
  private final Capabilities can;
  private final ScoreCall ask;
  private final CheckInput matter;

  /** The check of a server that must score sequences of a policy. */
  ScorerCheck(InferenceClient wire, Capabilities can, ScoreCall ask, CheckInput matter) {
    this.wire = wire;
    this.can = can;
    this.ask = ask;
    this.matter = matter;
  }

  /**
   * The input of the check.
   *
   * @param ids ids to score, three or more
   * @param text a text to tokenize; empty for no such check
   * @param tokens the tokens of that text
   * @param contextLength most tokens of a sequence; 0 for no such check
   * @param topK number of the most likely tokens that are requested at each position
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record CheckInput(int[] ids, String text, int[] tokens, int contextLength, int topK) {
    /**
     * Ids from all parts of a policy's vocabulary that have texts, fewer than the context length.
     */
    public static int[] ids(Tokenizer tokenizer, int contextLength) {
      int size = tokenizer.vocabularySize();
      int many = Math.min(size, TEXT_TOKENS);
      return IntStream.range(0, many)
          .map(i -> (int) ((long) i * size / many))
          .filter(id -> tokenizer.bytes(id).length > 0)
          .limit(Math.max(3, contextLength - 1))
          .toArray();
    }

    /** The input for a policy. */
    static CheckInput of(Tokenizer tokenizer, int contextLength, int topK) {
      int[] ids = ids(tokenizer, contextLength);
      String text = tokenizer.decode(ids).replace("\ufffd", "");
      return new CheckInput(ids, text, tokenizer.encode(text), contextLength, topK);
    }

    /** The input without a policy. */
    static CheckInput bare(int... ids) {
      return new CheckInput(ids, "", new int[0], 0, 0);
    }
  }

  /**
   * Runs all checks.
   *
   * @return the scores of a sequence that depends on the tokenizer alone; they identify the
   *     server's model
   * @throws InferenceCallException if a check fails; the message says why
   */
  double[] pass() throws InterruptedException {
    try {
      checkContext();
      checkTokens();
      sampled();
      return twice();
    } catch (MalformedResponseException malformed) {
      throw refusal(String.valueOf(malformed.getMessage()));
    }
  }

  private InferenceCallException refusal(String reason) {
    return new InferenceCallException(
        wire.endpoint(), CallFailure.of(CallFailure.Kind.MALFORMED, reason));
  }

  private void checkContext() {
    int most = matter.contextLength();
    // Other servers also sample a token.
    int needed = can.dialect() == Dialect.TROUPE ? most : most + 1;
    if (can.maxModelLen() > 0 && can.maxModelLen() < needed) {
      throw refusal(
          "it reads %d tokens, and the policy's sequences have up to %d; start it with %d or more"
              .formatted(can.maxModelLen(), most, needed));
    }
  }

  private void checkTokens() throws MalformedResponseException, InterruptedException {
    if (matter.text().isEmpty()) {
      return;
    }
    InferenceClient.Response answer =
        wire.post(
            "/tokenize",
            JsonFields.object()
                .put("model", can.model())
                .put("prompt", matter.text())
                .put("add_special_tokens", false),
            PATIENCE);
    if (!answer.ok() && answer.status() != 400) {
      LOG.warn(
          "server={} has no /tokenize ({}): that its tokens are the policy's is not tried",
          wire.endpoint(),
          answer.status());
      return;
    }
    if (!answer.ok()) {
      throw refusal("it cannot read a text of the policy's tokens: " + answer.fault().message());
    }
    int[] own = matter.tokens();
    int[] theirs = JsonFields.ids(answer.json().path("tokens"));
    int differs = Arrays.mismatch(own, theirs);
    if (differs >= 0) {
      throw refusal(
          "its tokens are not the policy's: a text of %d tokens has %d there, and token %d is %s"
              .formatted(
                  own.length,
                  theirs.length,
                  differs,
                  differs < theirs.length ? Integer.toString(theirs[differs]) : "missing"));
    }
  }

  private void sampled() throws MalformedResponseException, InterruptedException {
    int[] prompt = Arrays.copyOf(matter.ids(), PROMPT_TOKENS);
    int room = matter.contextLength() == 0 ? DRAWN_TOKENS : matter.contextLength() - prompt.length;
    int tokens = Math.min(DRAWN_TOKENS, room);
    GenerateRequest request =
        new GenerateRequest(
            "golden",
            can.model(),
            prompt,
            1,
            new SamplingSettings(1, tokens),
            tokens,
            1,
            "",
            Duration.ZERO,
            "");
    CompletionChunk sampled = new ProbeSample(wire, can).of(request, PATIENCE);
    int[] all = Arrays.copyOf(prompt, prompt.length + sampled.tokens().length);
    System.arraycopy(sampled.tokens(), 0, all, prompt.length, sampled.tokens().length);
    double[] said = ask.logProbs(all);
    for (int i = 0; i < sampled.tokens().length; i++) {
      double again = said[prompt.length - 1 + i];
      if (!(Math.abs(again - sampled.logProbs()[i]) <= SAMPLE_TOLERANCE)) {
        throw refusal(
            "it sampled token %d with log-probability %s and says %s when it reads it in a prompt; a"
                    .formatted(i, sampled.logProbs()[i], again)
                + " teacher must report both at temperature 1, of the same tokens");
      }
    }
  }

  private double[] twice() throws MalformedResponseException, InterruptedException {
    double[] first = ask.logProbs(matter.ids());
    double[] second = ask.logProbs(matter.ids());
    Optional<String> other = difference(first, second);
    if (other.isPresent()) {
      throw refusal("it scores the same tokens differently when asked again: " + other.get());
    }
    return first;
  }

  /** Describes where two scores of one sequence differ by more than rounding explains. */
  static Optional<String> difference(double[] one, double[] other) {
    for (int i = 0; i < one.length; i++) {
      if (!(Math.abs(one[i] - other[i]) <= TOLERANCE * Math.max(1, Math.abs(one[i])))) {
        return Optional.of("%s and %s for token %d".formatted(one[i], other[i], i + 1));
      }
    }
    return Optional.empty();
  }
}
