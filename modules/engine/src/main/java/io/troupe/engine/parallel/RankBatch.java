package io.troupe.engine.parallel;

import static io.troupe.core.Require.require;

import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A step's sequences, or a rank's part of them. The loss weights hold the denominators of the whole
 * step, so the ranks' gradients add up to its gradient, whatever the division.
 */
public sealed interface RankBatch {
  /** A step on rollouts and, beside them, examples. */
  record Rollouts(
      List<TrainingSequence> rollouts, List<TrainingSequence> examples, LossSettings loss)
      implements RankBatch {
    public Rollouts {
      rollouts = List.copyOf(rollouts);
      examples = List.copyOf(examples);
    }

    @Override
    public double coefficient() {
      return loss.supervisedCoefficient();
    }
  }

  /** A step on examples alone. */
  record Examples(List<TrainingSequence> examples) implements RankBatch {
    public Examples {
      examples = List.copyOf(examples);
    }

    @Override
    public List<TrainingSequence> rollouts() {
      return List.of();
    }

    @Override
    public double coefficient() {
      return 1;
    }
  }

  /** What was sampled; none in a step of examples. */
  List<TrainingSequence> rollouts();

  /** What is imitated. */
  List<TrainingSequence> examples();

  /** What the loss of the examples is multiplied by. */
  double coefficient();

  /** Whether any token has a loss weight. */
  default boolean hasLossWeight() {
    return Stream.concat(rollouts().stream(), examples().stream())
        .anyMatch(RankBatch::hasLossWeight);
  }

  private static boolean hasLossWeight(TrainingSequence sequence) {
    for (float weight : sequence.lossWeights()) {
      if (weight != 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Parts of about as many tokens. Neighbours stay together, so that the completions of a prompt
   * seldom part from each other; a part may be empty.
   */
  default List<RankBatch> splitAcross(int ranks) {
    require(ranks >= 1, "a step is divided among 1 rank or more, not %d", ranks);
    List<List<TrainingSequence>> sampled = parts(rollouts(), ranks);
    List<List<TrainingSequence>> imitated = parts(examples(), ranks);
    List<RankBatch> shares = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      shares.add(
          switch (this) {
            case Rollouts(var _, var _, LossSettings loss) ->
                new Rollouts(sampled.get(rank), imitated.get(rank), loss);
            case Examples _ -> new Examples(imitated.get(rank));
          });
    }
    return shares;
  }

  /** A sequence goes where its middle lies, when all are laid end to end. */
  private static List<List<TrainingSequence>> parts(List<TrainingSequence> all, int ranks) {
    List<List<TrainingSequence>> parts = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      parts.add(new ArrayList<>());
    }
    long total = all.stream().mapToLong(TrainingSequence::length).sum();
    long before = 0;
    for (TrainingSequence sequence : all) {
      long twiceTheMiddle = 2 * before + sequence.length();
      parts.get(Math.toIntExact(twiceTheMiddle * ranks / (2 * total))).add(sequence);
      before += sequence.length();
    }
    return parts;
  }
}
