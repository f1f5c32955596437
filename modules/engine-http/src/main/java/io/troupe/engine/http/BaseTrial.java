package io.troupe.engine.http;

import io.troupe.engine.SamplingSettings;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.protocol.Draw;
import io.troupe.engine.http.protocol.MalformedAnswerException;
import io.troupe.engine.http.protocol.Piece;
import io.troupe.engine.http.protocol.WeightTag;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Whether what a server draws from under an adapter is the run's own policy. A name tells which
 * adapter it is, and nothing tells what lies under it: a checkpoint of the same shapes takes the
 * adapter as well.
 *
 * <p>The server draws a few tokens at temperature 1 after prompts that are no text, where no model
 * is sure of itself; the run's own engine says what these are worth, and the mean distance of the
 * log-probabilities is to be within {@value #TOLERANCE} nats. As the server draws, that mean is no
 * less, up to chance, than the divergence of its distribution from the policy's. Half precision
 * takes a few hundredths of it. A base that is nearer than the tolerance passes, and so does a
 * server that does not add the adapter, as long as that moves the policy by less.
 */
record BaseTrial(Wire wire, OwnPolicy policy) {
  static final double TOLERANCE = 0.25;
  private static final int PROMPTS = 4;
  private static final int PROMPT_TOKENS = 3;
  private static final int DRAWN_TOKENS = 16;

  /** Fewer are drawn on after further prompts: where each text ends at once, nothing is told. */
  private static final int LEAST_TOKENS = 32;

  /** What comes of it. */
  sealed interface Verdict {
    /** It draws what the run's policy would, as far as that shows. */
    record Alike() implements Verdict {}

    /** It does not. */
    record Different(String how) implements Verdict {}

    /** The run's own policy cannot be computed now, which says nothing of the server. */
    record Unable(String why) implements Verdict {}
  }

  /** What the server drew after one prompt, and what it says of each token. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Told(int[] tokens, double[] logProbs) {}

  /**
   * Compares.
   *
   * @param adapter by which the server knows the weights
   * @throws EndpointException if it does not answer
   */
  Verdict verdict(Capabilities can, WeightTag adapter, WeightSnapshot weights)
      throws InterruptedException {
    List<Told> told = new ArrayList<>();
    try {
      int tokens = 0;
      // a draw brings a token or more, so it ends
      for (int number = 0; number < PROMPTS || tokens < LEAST_TOKENS; number++) {
        Told next = draw(can, adapter, number);
        told.add(next);
        tokens += next.logProbs().length;
      }
    } catch (MalformedAnswerException malformed) {
      return new Verdict.Different(String.valueOf(malformed.getMessage()));
    }
    List<double[]> own;
    try {
      own = policy.scores().of(weights, told.stream().map(Told::tokens).toList());
    } catch (RuntimeException full) { // the next try may find room
      return new Verdict.Unable(
          "this run cannot compute its own policy to compare with, which takes one more copy of"
              + " the weights in this process's memory, where the trainer computes: "
              + full);
    }
    return verdict(adapter, told, own);
  }

  private static Verdict verdict(WeightTag adapter, List<Told> told, List<double[]> own) {
    double distance = 0;
    double theirs = 0;
    double ours = 0;
    int count = 0;
    for (int i = 0; i < told.size(); i++) {
      double[] logProbs = told.get(i).logProbs();
      for (int t = 0; t < logProbs.length; t++) {
        double same = own.get(i)[PROMPT_TOKENS - 1 + t];
        distance += Math.abs(logProbs[t] - same);
        theirs += logProbs[t];
        ours += same;
        count++;
      }
    }
    return distance / count <= TOLERANCE
        ? new Verdict.Alike()
        : new Verdict.Different(
            different(adapter, count, theirs / count, ours / count, distance / count));
  }

  private static String different(
      WeightTag adapter, int count, double theirs, double ours, double distance) {
    return String.format(
        Locale.ROOT,
        "of %d tokens that it drew with the adapter %s it says %.3f nats on average, and this run's"
            + " policy says %.3f; they are %.3f apart, and half precision keeps within %s: it"
            + " serves another checkpoint than policy.checkpoint, or adds adapters otherwise; start"
            + " it with policy.checkpoint, or set rollout.publish: merged",
        count,
        adapter,
        theirs,
        ours,
        distance,
        TOLERANCE);
  }

  private Told draw(Capabilities can, WeightTag adapter, int number)
      throws MalformedAnswerException, InterruptedException {
    int[] prompt = prompt(number);
    int most = Math.min(DRAWN_TOKENS, policy.contextLength() - prompt.length);
    Draw draw =
        new Draw(
            "compare-%s-%d".formatted(adapter, number),
            can.model(),
            prompt,
            1,
            new SamplingSettings(1, most),
            most,
            1 + number,
            adapter.toString(),
            Duration.ZERO,
            adapter.toString());
    Piece piece = new TrialDraw(wire, can).pastEnd(draw, wire.endpoint().patience().firstToken());
    int[] drawn = piece.tokens();
    int size = policy.tokenizer().vocabularySize();
    if (!Arrays.stream(drawn).allMatch(id -> id >= 0 && id < size)) {
      throw new MalformedAnswerException(
          "tokens drawn for comparison are no ids of the policy, which lie in [0, %d]"
              .formatted(size - 1));
    }
    int[] all = Arrays.copyOf(prompt, prompt.length + drawn.length);
    System.arraycopy(drawn, 0, all, prompt.length, drawn.length);
    return new Told(all, piece.logProbs());
  }

  /** Ids from different parts of the vocabulary, other ones for each number while there are. */
  private int[] prompt(int number) {
    int[] ids = ScorerTrial.Matter.ids(policy.tokenizer(), policy.contextLength());
    int[] prompt = new int[PROMPT_TOKENS];
    for (int i = 0; i < prompt.length; i++) {
      int round = number / PROMPTS * PROMPT_TOKENS;
      prompt[i] = ids[(number % PROMPTS * ids.length / PROMPTS + round + i) % ids.length];
    }
    return prompt;
  }
}
