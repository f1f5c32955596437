package io.troupe.engine.http.replica;

import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.ProbeSample;
import io.troupe.engine.http.protocol.CompletionChunk;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.http.score.ScorerCheck;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.weights.WeightSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Whether what a server draws from under an adapter is the run's own policy. A name tells which
 * adapter it is, and nothing tells what lies under it: a checkpoint of the same shapes takes the
 * adapter as well.
 *
 * <p>The server draws a few tokens at temperature 1 after prompts that are no text, where no model
 * is sure of itself; the run's own engine says what these are worth, and the mean distance of the
 * log-probabilities is to be within {@value #TOLERANCE} nats. As the server draws, that mean is no
 * less, up to chance, than the divergence of its distribution from the policy's. Half precision
 * takes a few hundredths of it. A base that is nearer than the tolerance passes.
 *
 * <p>Whether the server adds the adapter shows long before that moves the policy so far: {@link
 * Addition}. For it the server draws after the same prompts by the same seeds without the adapter
 * too.
 */
public record BaseModelCheck(InferenceClient wire, LocalPolicy policy) {
  static final double TOLERANCE = 0.25;
  private static final int PROMPTS = 4;
  private static final int PROMPT_TOKENS = 3;
  private static final int DRAWN_TOKENS = 16;

  /** Fewer are drawn on after further prompts: where each text ends at once, nothing is told. */
  private static final int LEAST_TOKENS = 32;

  /** What comes of it. */
  public sealed interface CheckOutcome {
    /** It draws what the run's policy would, as far as that shows. */
    record SameModel(AdapterEffect addition) implements CheckOutcome {}

    /** It does not. */
    record OtherModel(String how) implements CheckOutcome {}

    /** The run's own policy cannot be computed now, which says nothing of the server. */
    record Unable(String why) implements CheckOutcome {}
  }

  /** What the server drew after one prompt, and what it says of each token. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record ReportedTokens(int[] tokens, double[] logProbs) {}

  /**
   * Compares.
   *
   * @param adapter by which the server knows the weights
   * @throws io.troupe.engine.http.client.InferenceCallException if it does not answer
   */
  public CheckOutcome verdict(Capabilities can, WeightTag adapter, WeightSnapshot weights)
      throws InterruptedException {
    boolean adds = weights.adapter().addsAnything();
    List<ReportedTokens> with;
    List<ReportedTokens> without;
    try {
      with = draws(can, adapter, adapter.toString(), adds ? 2 * PROMPTS : PROMPTS);
      without = adds ? draws(can, adapter, "", PROMPTS) : List.of();
    } catch (MalformedResponseException malformed) {
      return new CheckOutcome.OtherModel(String.valueOf(malformed.getMessage()));
    }
    double[] theirs = told(with);
    double[] own;
    try {
      own = drawn(policy.scores().of(weights, tokens(with)));
    } catch (RuntimeException full) { // the next try may find room
      return new CheckOutcome.Unable(
          "this run cannot compute its own policy to compare with, which takes one more copy of"
              + " the weights in this process's memory, where the trainer computes: "
              + full);
    }
    double distance = AdapterEffect.Arithmetic.of(theirs, own).size();
    if (!(distance <= TOLERANCE)) {
      return new CheckOutcome.OtherModel(different(adapter, theirs, own, distance));
    }
    AdapterEffect addition =
        adds
            ? addition(weights, with, without, own)
            : new AdapterEffect.Inconclusive("the adapter adds nothing yet");
    return switch (addition) {
      case AdapterEffect.NotAdded(String how) ->
          new CheckOutcome.OtherModel(
              "%s; start it so that it adds the adapter %s as PEFT does, or set rollout.publish: merged"
                  .formatted(how, adapter));
      case AdapterEffect.TokenAgreement _, AdapterEffect.Inconclusive _ ->
          new CheckOutcome.SameModel(addition);
    };
  }

  /** Whether it adds the adapter, of tokens that the policy with it agrees on. */
  private AdapterEffect addition(
      WeightSnapshot weights,
      List<ReportedTokens> with,
      List<ReportedTokens> without,
      double[] own) {
    List<double[]> bare;
    try {
      bare =
          policy
              .scores()
              .ofBase(
                  weights,
                  Stream.of(with, without)
                      .flatMap(List::stream)
                      .map(ReportedTokens::tokens)
                      .toList());
    } catch (RuntimeException full) {
      return new AdapterEffect.Inconclusive(
          "this run cannot compute its policy without the adapter to compare with: " + full);
    }
    return AdapterEffect.of(
        told(with),
        own,
        drawn(bare.subList(0, with.size())),
        AdapterEffect.Arithmetic.of(told(without), drawn(bare.subList(with.size(), bare.size()))));
  }

  private static List<int[]> tokens(List<ReportedTokens> told) {
    return told.stream().map(ReportedTokens::tokens).toList();
  }

  /** What the server says of all tokens that it drew. */
  private static double[] told(List<ReportedTokens> told) {
    return told.stream().flatMapToDouble(one -> Arrays.stream(one.logProbs())).toArray();
  }

  /** Of scores of whole sequences, those of the tokens that were drawn. */
  private static double[] drawn(List<double[]> scores) {
    return scores.stream()
        .flatMapToDouble(one -> Arrays.stream(one).skip(PROMPT_TOKENS - 1L))
        .toArray();
  }

  private static String different(
      WeightTag adapter, double[] theirs, double[] own, double distance) {
    return String.format(
        Locale.ROOT,
        "of %d tokens that it drew with the adapter %s it says %.3f nats on average, and this run's"
            + " policy says %.3f; they are %.3f apart, and half precision keeps within %s: it"
            + " serves another checkpoint than policy.checkpoint, or adds adapters otherwise; start"
            + " it with policy.checkpoint, or set rollout.publish: merged",
        theirs.length,
        adapter,
        Arrays.stream(theirs).average().orElseThrow(),
        Arrays.stream(own).average().orElseThrow(),
        distance,
        TOLERANCE);
  }

  /**
   * Draws after so many prompts, and further ones while there are too few tokens.
   *
   * @param by the name of the adapter to draw with; empty for the model as it is
   */
  private List<ReportedTokens> draws(Capabilities can, WeightTag adapter, String by, int prompts)
      throws MalformedResponseException, InterruptedException {
    List<ReportedTokens> told = new ArrayList<>();
    int tokens = 0;
    // a draw brings a token or more, so it ends
    for (int number = 0; number < prompts || tokens < LEAST_TOKENS; number++) {
      ReportedTokens next = draw(can, adapter, by, number);
      told.add(next);
      tokens += next.logProbs().length;
    }
    return told;
  }

  private ReportedTokens draw(Capabilities can, WeightTag adapter, String by, int number)
      throws MalformedResponseException, InterruptedException {
    int[] prompt = prompt(number);
    int most = Math.min(DRAWN_TOKENS, policy.contextLength() - prompt.length);
    GenerateRequest draw =
        new GenerateRequest(
            "%s-%s-%d".formatted(by.isEmpty() ? "bare" : "compare", adapter, number),
            can.model(),
            prompt,
            1,
            new SamplingSettings(1, most),
            most,
            1 + number,
            by.isEmpty() ? "bare" : by,
            Duration.ZERO,
            by);
    CompletionChunk piece =
        new ProbeSample(wire, can).ignoringEnd(draw, wire.endpoint().patience().firstToken());
    int[] drawn = piece.tokens();
    int size = policy.tokenizer().vocabularySize();
    if (!Arrays.stream(drawn).allMatch(id -> id >= 0 && id < size)) {
      throw new MalformedResponseException(
          "tokens drawn for comparison are no ids of the policy, which lie in [0, %d]"
              .formatted(size - 1));
    }
    int[] all = Arrays.copyOf(prompt, prompt.length + drawn.length);
    System.arraycopy(drawn, 0, all, prompt.length, drawn.length);
    return new ReportedTokens(all, piece.logProbs());
  }

  /** Ids from different parts of the vocabulary, other ones for each number while there are. */
  private int[] prompt(int number) {
    int[] ids = ScorerCheck.CheckInput.ids(policy.tokenizer(), policy.contextLength());
    int[] prompt = new int[PROMPT_TOKENS];
    for (int i = 0; i < prompt.length; i++) {
      int round = number / PROMPTS * PROMPT_TOKENS;
      prompt[i] = ids[(number % PROMPTS * ids.length / PROMPTS + round + i) % ids.length];
    }
    return prompt;
  }
}
