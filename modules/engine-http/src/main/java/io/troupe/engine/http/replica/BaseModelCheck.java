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

/**
 * Checks that a server has the run's checkpoint under an adapter. The adapter's name holds its
 * digest, but no name identifies the base, and a checkpoint of the same shapes takes the adapter as
 * well.
 *
 * <p>The server samples one completion with the adapter at temperature 1, after a prompt that is no
 * text. The run's own engine scores the same tokens. The log-probabilities must be within {@value
 * #TOLERANCE} nats of each other on average. Because the server samples, that mean is at least the
 * divergence of its distribution from the policy's, up to chance. Half precision accounts for a few
 * hundredths of a nat. A base that is closer than the tolerance passes.
 */
public record BaseModelCheck(InferenceClient wire, LocalPolicy policy) {
  static final double TOLERANCE = 0.25;
  private static final int PROMPT_TOKENS = 3;
  private static final int SAMPLED_TOKENS = 64;

  /** A server that cannot ignore the end of a text samples after further prompts. */
  private static final int LEAST_TOKENS = 32;

  /** The outcome of a check. */
  public sealed interface CheckOutcome {
    /** The server samples from the run's policy, within the tolerance. */
    record SameModel() implements CheckOutcome {}

    /** The server samples from another distribution. */
    record OtherModel(String how) implements CheckOutcome {}

    /** The run cannot score with its own policy now. The server may be as good as any. */
    record Unable(String why) implements CheckOutcome {}
  }

  /** A prompt with the server's completion, and the log-probabilities that it reported. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record ReportedTokens(int[] tokens, double[] logProbs) {}

  /**
   * Runs the check.
   *
   * @param adapter the server's name for the weights
   * @throws io.troupe.engine.http.client.InferenceCallException if the server does not answer
   */
  public CheckOutcome verdict(Capabilities can, WeightTag adapter, WeightSnapshot weights)
      throws InterruptedException {
    List<ReportedTokens> samples;
    try {
      samples = samples(can, adapter);
    } catch (MalformedResponseException malformed) {
      return new CheckOutcome.OtherModel(String.valueOf(malformed.getMessage()));
    }
    List<double[]> scores;
    try {
      scores = policy.scores().of(weights, samples.stream().map(ReportedTokens::tokens).toList());
    } catch (RuntimeException full) { // the next attempt may find room
      return new CheckOutcome.Unable(
          "this run cannot compute its own policy to compare with, which takes one more copy of"
              + " the weights in this process's memory, where the trainer computes: "
              + full);
    }
    double[] theirs =
        samples.stream().flatMapToDouble(one -> Arrays.stream(one.logProbs())).toArray();
    double[] own =
        scores.stream()
            .flatMapToDouble(one -> Arrays.stream(one).skip(PROMPT_TOKENS - 1L))
            .toArray();
    double distance = 0;
    for (int t = 0; t < own.length; t++) {
      distance += Math.abs(theirs[t] - own[t]) / own.length;
    }
    return distance <= TOLERANCE // not so for NaN
        ? new CheckOutcome.SameModel()
        : new CheckOutcome.OtherModel(difference(adapter, theirs, own, distance));
  }

  private static String difference(
      WeightTag adapter, double[] theirs, double[] own, double distance) {
    return String.format(
        Locale.ROOT,
        "of %d tokens that it sampled with the adapter %s it says %.3f nats on average, and this"
            + " run's policy says %.3f; they are %.3f apart, and half precision keeps within %s: it"
            + " serves another checkpoint than policy.checkpoint, or adds adapters otherwise; start"
            + " it with policy.checkpoint, or set rollout.publish: merged",
        theirs.length,
        adapter,
        Arrays.stream(theirs).average().orElseThrow(),
        Arrays.stream(own).average().orElseThrow(),
        distance,
        TOLERANCE);
  }

  private List<ReportedTokens> samples(Capabilities can, WeightTag adapter)
      throws MalformedResponseException, InterruptedException {
    List<ReportedTokens> samples = new ArrayList<>();
    int tokens = 0;
    while (tokens < LEAST_TOKENS) { // each sample has a token or more
      ReportedTokens next = sample(can, adapter, samples.size());
      samples.add(next);
      tokens += next.logProbs().length;
    }
    return samples;
  }

  private ReportedTokens sample(Capabilities can, WeightTag adapter, int number)
      throws MalformedResponseException, InterruptedException {
    int[] prompt = prompt(number);
    int most = Math.min(SAMPLED_TOKENS, policy.contextLength() - prompt.length);
    GenerateRequest request =
        new GenerateRequest(
            "base-%s-%d".formatted(adapter, number),
            can.model(),
            prompt,
            1,
            new SamplingSettings(1, most),
            most,
            1 + number,
            adapter.toString(),
            Duration.ZERO,
            adapter.toString());
    CompletionChunk completion =
        new ProbeSample(wire, can).ignoringEnd(request, wire.endpoint().patience().firstToken());
    int[] sampled = completion.tokens();
    int size = policy.tokenizer().vocabularySize();
    if (!Arrays.stream(sampled).allMatch(id -> id >= 0 && id < size)) {
      throw new MalformedResponseException(
          "tokens sampled to check the base are no ids of the policy, which lie in [0, %d]"
              .formatted(size - 1));
    }
    int[] all = Arrays.copyOf(prompt, prompt.length + sampled.length);
    System.arraycopy(sampled, 0, all, prompt.length, sampled.length);
    return new ReportedTokens(all, completion.logProbs());
  }

  /** Returns ids from all over the vocabulary, the next ones for each number. */
  private int[] prompt(int number) {
    int[] ids = ScorerCheck.CheckInput.ids(policy.tokenizer(), policy.contextLength());
    int[] prompt = new int[PROMPT_TOKENS];
    for (int i = 0; i < prompt.length; i++) {
      prompt[i] = ids[(number * PROMPT_TOKENS + i) % ids.length];
    }
    return prompt;
  }
}
