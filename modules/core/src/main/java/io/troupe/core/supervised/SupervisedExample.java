package io.troupe.core.supervised;

import static io.troupe.core.Require.require;

import io.troupe.core.loss.LossWeights;
import io.troupe.core.loss.TrainingSequence;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One sequence of tokens to imitate in part. Arrays are handed over, not copied.
 *
 * @param id of its row
 * @param source of its row; may be empty
 * @param prompt token ids, at least one; not trained
 * @param completion token ids behind the prompt, at least one
 * @param imitated one a completion token: whether it has loss weight
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record SupervisedExample(
    String id, String source, int[] prompt, int[] completion, boolean[] imitated) {
  public SupervisedExample {
    require(prompt.length >= 1, "row %s: the prompt has no token", id);
    require(completion.length >= 1, "row %s: the completion has no token", id);
    require(
        imitated.length == completion.length,
        "row %s: %d completion tokens need a flag each, not %d",
        id,
        completion.length,
        imitated.length);
  }

  /**
   * A prompt and its whole answer.
   *
   * @param end token ids that end the answer
   */
  public static SupervisedExample answered(String id, int[] prompt, int[] answer, int... end) {
    int[] completion = Arrays.copyOf(answer, answer.length + end.length);
    System.arraycopy(end, 0, completion, answer.length, end.length);
    boolean[] imitated = new boolean[completion.length];
    Arrays.fill(imitated, true);
    return new SupervisedExample(id, "", prompt, completion, imitated);
  }

  /** Prompt and completion together, in tokens. */
  public int length() {
    return prompt.length + completion.length;
  }

  /** Tokens with loss weight. */
  public int imitatedTokens() {
    int count = 0;
    for (boolean each : imitated) {
      count += each ? 1 : 0;
    }
    return count;
  }

  /** The sequences of a step, whose loss is the mean of −log p over all imitated tokens. */
  public static List<TrainingSequence> sequences(List<SupervisedExample> examples) {
    List<float[]> weights =
        LossWeights.tokenMean(examples.stream().map(SupervisedExample::imitated).toList());
    List<TrainingSequence> sequences = new ArrayList<>(examples.size());
    for (int i = 0; i < examples.size(); i++) {
      SupervisedExample example = examples.get(i);
      int[] completion = example.completion();
      sequences.add(
          new TrainingSequence(
                  example.prompt(), completion, new float[completion.length], weights.get(i), 0)
              .observing(example.imitated()));
    }
    return sequences;
  }
}
