package io.troupe.engine.http.replica;

import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.ProbeSample;
import io.troupe.engine.http.probe.PublishedWeightForm;
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
 * Checks that a server samples with the run's weights. A name proves neither the base under an
 * adapter, since a checkpoint of the same shapes takes the adapter as well, nor merged weights,
 * since a server may have read them and not use all of them, such as a copy of an output head that
 * it packed when it started.
 *
 * <p>The server samples a completion at temperature 1, after a prompt that is no text. The run's
 * own engine scores the same tokens. The log-probabilities must be near each other on average.
 * Because the server samples, that mean is at least the divergence of its distribution from the
 * policy's, up to chance. Half precision accounts for a few hundredths of a nat. Weights that are
 * closer than the tolerance pass.
 */
public record ServedWeightsCheck(InferenceClient wire, LocalPolicy policy) {
  /** Most nats between a server in half precision and the policy, on average over the tokens. */
  public static final double TOLERANCE = 0.25;

  private static final int PROMPT_TOKENS = 3;
  private static final int SAMPLED_TOKENS = 64;

  /** A server that cannot ignore the end of a text samples after further prompts. */
  private static final int LEAST_TOKENS = 32;

  /** The outcome of a check. */
  public sealed interface CheckOutcome {
    /**
     * The server samples from the run's policy, within the tolerance.
     *
     * @param distance nats between the log-probabilities, on average
     */
    record SameWeights(double distance) implements CheckOutcome {}

    /** The server samples from another distribution. */
    record OtherWeights(String how) implements CheckOutcome {}

    /** The run cannot score with its own policy now. The server may be as good as any. */
    record Unable(String why) implements CheckOutcome {}
  }

  /** A prompt with the server's completion, and the log-probabilities that it reported. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record ReportedTokens(int[] tokens, double[] logProbs) {}

  /**
   * Runs the check.
   *
   * @param tag the server's name for the weights
   * @param form whether the name is that of an adapter
   * @param attempt number of the attempt, 0 for the first; each has other prompts
   * @param tolerance most nats between the log-probabilities, on average
   * @throws io.troupe.engine.http.client.InferenceCallException if the server does not answer
   */
  public CheckOutcome verdict(
      Capabilities can,
      WeightTag tag,
      WeightSnapshot weights,
      PublishedWeightForm form,
      int attempt,
      double tolerance)
      throws InterruptedException {
    List<ReportedTokens> samples;
    try {
      samples = samples(can, tag, form, attempt);
    } catch (MalformedResponseException malformed) {
      return new CheckOutcome.OtherWeights(String.valueOf(malformed.getMessage()));
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
    return distance <= tolerance // not so for NaN
        ? new CheckOutcome.SameWeights(distance)
        : new CheckOutcome.OtherWeights(
            difference(tag, theirs, own, distance, tolerance) + remedy(form));
  }

  private static String difference(
      WeightTag tag, double[] theirs, double[] own, double distance, double tolerance) {
    return String.format(
        Locale.ROOT,
        "of %d tokens that it sampled with %s it says %.3f nats on average, and this run's policy"
            + " says %.3f; they are %.3f apart, and at most %.3f is its precision: ",
        theirs.length,
        tag,
        Arrays.stream(theirs).average().orElseThrow(),
        Arrays.stream(own).average().orElseThrow(),
        distance,
        tolerance);
  }

  private static String remedy(PublishedWeightForm form) {
    return switch (form) {
      case ADAPTERS ->
          "it serves another checkpoint than policy.checkpoint, or adds adapters otherwise; start it"
              + " with policy.checkpoint, or set rollout.publish: merged";
      case MERGED ->
          "it does not sample with all of the weights that it read, as vLLM on a CPU does with tied"
              + " embeddings; set rollout.publish: adapters, or have a sidecar started again with"
              + " each version: rollout.sidecars.restart_for_weights";
    };
  }

  private List<ReportedTokens> samples(
      Capabilities can, WeightTag tag, PublishedWeightForm form, int attempt)
      throws MalformedResponseException, InterruptedException {
    List<ReportedTokens> samples = new ArrayList<>();
    int tokens = 0;
    while (tokens < LEAST_TOKENS) { // each sample has a token or more
      ReportedTokens next = sample(can, tag, form, attempt * LEAST_TOKENS + samples.size());
      samples.add(next);
      tokens += next.logProbs().length;
    }
    return samples;
  }

  private ReportedTokens sample(
      Capabilities can, WeightTag tag, PublishedWeightForm form, int number)
      throws MalformedResponseException, InterruptedException {
    int[] prompt = prompt(number);
    int most = Math.min(SAMPLED_TOKENS, policy.contextLength() - prompt.length);
    GenerateRequest request =
        new GenerateRequest(
            "check-%s-%d".formatted(tag, number),
            can.model(),
            prompt,
            1,
            new SamplingSettings(1, most),
            most,
            1 + number,
            tag.toString(),
            Duration.ZERO,
            form == PublishedWeightForm.ADAPTERS ? tag.toString() : "");
    CompletionChunk completion =
        new ProbeSample(wire, can).ignoringEnd(request, wire.endpoint().patience().firstToken());
    int[] sampled = completion.tokens();
    int size = policy.tokenizer().vocabularySize();
    if (!Arrays.stream(sampled).allMatch(id -> id >= 0 && id < size)) {
      throw new MalformedResponseException(
          "tokens sampled to check the weights are no ids of the policy, which lie in [0, %d]"
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
