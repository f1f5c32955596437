package io.troupe.engine.parallel;

import static io.troupe.core.Require.require;

import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The sequences of a step, or the part of one rank. The loss weights hold the denominators of the
 * whole step, so the ranks' gradients add up to its gradient, whatever the division.
 */
public sealed interface RankBatch {
  /** A batch of rollouts and, beside them, examples. */
  record Rollouts(
      List<TrainingSequence> rollouts, List<TrainingSequence> examples, LossSettings loss)
      implements RankBatch {
    public Rollouts {
      rollouts = List.copyOf(rollouts);
      examples = List.copyOf(examples);
    }

    @Override
    public double coefficient() {
      return loss.shares().supervised();
    }
  }

  /** A batch of examples alone. */
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

  /** Returns the sampled sequences; none in a batch of examples. */
  List<TrainingSequence> rollouts();

  /** Returns the sequences to imitate. */
  List<TrainingSequence> examples();

  /** Returns the coefficient of the loss of the examples. */
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
   * Splits the batch into parts of about equal numbers of tokens. Neighbours stay together, so that
   * the completions of a prompt are seldom split; a part may be empty.
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

  /**
   * With all sequences laid end to end, a sequence belongs to the part that holds its middle token.
   */
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
