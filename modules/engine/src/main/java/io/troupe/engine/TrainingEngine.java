package io.troupe.engine;

import io.troupe.core.train.LossSettings;
import io.troupe.core.train.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Owns the weights and moves them. Every method blocks, and all are called from one thread, which
 * is not a dispatcher's.
 */
public interface TrainingEngine extends AutoCloseable {
  /**
   * One policy-gradient step. The loss is the sum over all sequences and tokens of lossWeight times
   * the token's loss, see {@link LossSettings}; it does not depend on how the engine splits the
   * batch.
   */
  StepOutcome train(List<TrainingSequence> batch, LossSettings loss, Optimisation optimisation);

  /**
   * One supervised step: weighted negative log-likelihood of the completions at temperature 1.
   * Advantages and behaviour log-probabilities of the sequences are not read.
   */
  StepOutcome imitate(List<TrainingSequence> batch, Optimisation optimisation);

  /** Freezes a copy of the present weights as the reference policy of the KL penalty. */
  void freezeReference();

  /** Copies the present weights out, as {@code version}. */
  WeightSnapshot snapshot(WeightVersion version);

  /**
   * Writes weights (safetensors with Hugging Face names, config.json, tokenizer.json), optimizer
   * state and reference into a directory that exists and is empty. Durable when it returns.
   */
  void save(Path directory) throws IOException;

  /** Reads what {@link #save} wrote; afterwards training goes on bit for bit as it would have. */
  void restore(Path directory) throws IOException;

  @Override
  void close();
}
