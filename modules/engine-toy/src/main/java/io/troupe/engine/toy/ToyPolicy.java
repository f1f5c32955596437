package io.troupe.engine.toy;

import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankGroups;
import io.troupe.engine.parallel.TrainerRank;
import java.util.List;

/**
 * A tabular softmax policy over characters that learns to add two digits within a second, by the
 * same losses as the real engines: for tests, and for trying out a run without PyTorch. What it can
 * represent, and what not, is told by {@link SumTable}.
 *
 * <p>All of it is deterministic and none of it native: the same seed makes the same weights, draws
 * and steps on every machine, as far as {@link Math#exp} does. Trainer and sampler compute a
 * token's log-probability by the same instructions, so that they agree to the last bit.
 */
public final class ToyPolicy implements PolicyEngines {
  private final ToySettings settings;
  private final CharacterTokenizer tokenizer;
  private final SumTable model;
  private final int ranks;
  private final RankGroups groups;

  public ToyPolicy(ToySettings settings) {
    this(settings, 1, _ -> List.of(Collective.alone()));
  }

  /**
   * A policy whose trainer is so many data-parallel ranks in this process.
   *
   * @param groups asked for a group when the trainer starts, and after the loss of a rank
   */
  public ToyPolicy(ToySettings settings, int ranks, RankGroups groups) {
    this.settings = settings;
    this.tokenizer = new CharacterTokenizer(settings.alphabet());
    this.model = new SumTable(settings, tokenizer.vocabularySize());
    this.ranks = ranks;
    this.groups = groups;
  }

  @Override
  public Tokenizer tokenizer() {
    return tokenizer;
  }

  @Override
  public int contextLength() {
    return settings.contextLength();
  }

  @Override
  public String describe() {
    return "toy table of logits, %d positions, %d rows, %d tokens, %d parameters"
        .formatted(
            settings.positions(), settings.rows(), tokenizer.vocabularySize(), model.parameters());
  }

  @Override
  public String device() {
    return "cpu, Java %s, 1 thread a sampler".formatted(Runtime.version().feature());
  }

  @Override
  public TrainingEngine newTrainer(long seed) {
    ToyTrainer trainer = new ToyTrainer(settings, model, seed);
    return ranks == 1 ? trainer : trainer.by(new ToyRanks(model, ranks, groups));
  }

  /**
   * A rank of a data-parallel trainer.
   *
   * @param seed of the initial weights, the same for all ranks
   * @param ranks closed by whoever joined it
   */
  public TrainerRank newRank(long seed, Collective ranks) {
    return new ToyRank(model, ToyTrainer.initialWeights(model.parameters(), seed), ranks);
  }

  @Override
  public SamplingEngine newSampler() {
    return new ToySampler(settings, model, settings.tokenDelay());
  }

  @Override
  public void close() {}
}
