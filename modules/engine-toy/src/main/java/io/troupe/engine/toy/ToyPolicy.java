package io.troupe.engine.toy;

import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.parallel.DataParallelSteps;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.parallel.TrainerRanks;
import io.troupe.engine.train.TrainingEngine;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A tabular softmax policy over characters that learns to add two digits within a second, by the
 * same losses as the real engines: for tests, and for trying out a run without PyTorch. {@link
 * LogitTable} says what the policy can represent.
 *
 * <p>The policy is deterministic and uses no native code: the same seed makes the same weights,
 * completions and steps on every machine, as far as {@link Math#exp} does. Trainer and sampler
 * compute a token's log-probability by the same instructions, so that they agree to the last bit.
 */
public final class ToyPolicy implements PolicyEngines {
  private final ToySettings settings;
  private final CharacterTokenizer tokenizer;
  private final LogitTable model;
  private final Optional<Supplier<TrainerRanks>> ranks;

  public ToyPolicy(ToySettings settings) {
    this(settings, Optional.empty());
  }

  private ToyPolicy(ToySettings settings, Optional<Supplier<TrainerRanks>> ranks) {
    this.settings = settings;
    this.tokenizer = new CharacterTokenizer(settings.alphabet());
    this.model = new LogitTable(settings, tokenizer.vocabularySize());
    this.ranks = ranks;
  }

  /**
   * Returns the same policy with ranks that make the steps of its trainers; each trainer has its
   * own ranks.
   */
  public ToyPolicy by(Supplier<TrainerRanks> ranks) {
    return new ToyPolicy(settings, Optional.of(ranks));
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
    return ranks.isPresent() ? trainer.by(new DataParallelSteps(ranks.get().get())) : trainer;
  }

  @Override
  public TrainerRank newRank(int ranks) {
    return new ToyRank(settings, model);
  }

  @Override
  public SamplingEngine newSampler() {
    return new ToySampler(settings, model, settings.tokenDelay());
  }

  @Override
  public void close() {}
}
