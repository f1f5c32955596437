package io.troupe.engine.train;

import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Owns the weights and updates them. Every method blocks, and one thread makes all calls, which
 * must not be a dispatcher's.
 */
public interface TrainingEngine extends AutoCloseable {
  /**
   * Makes one step on rollouts and, beside them, examples to imitate. The loss is the sum over all
   * sequences and tokens of lossWeight times the token's loss, see {@link
   * io.troupe.core.loss.ScalarLoss}, plus the settings' supervised coefficient times the weighted
   * negative log-likelihood of the examples at temperature 1; it does not depend on how the engine
   * splits the batch.
   *
   * @param rollouts with a teacher's tokens when the loss has a distillation
   * @param examples none when the supervised coefficient is 0; their advantages and behaviour
   *     log-probabilities are not read
   */
  StepOutcome train(
      List<TrainingSequence> rollouts,
      List<TrainingSequence> examples,
      LossSettings loss,
      OptimizerSettings optimisation);

  /** Makes one step on rollouts alone. */
  default StepOutcome train(
      List<TrainingSequence> rollouts, LossSettings loss, OptimizerSettings optimisation) {
    return train(rollouts, List.of(), loss, optimisation);
  }

  /**
   * Makes one supervised step: weighted negative log-likelihood of the completions at temperature
   * 1. Advantages and behaviour log-probabilities of the sequences are not read.
   */
  StepOutcome trainSupervised(List<TrainingSequence> batch, OptimizerSettings optimisation);

  /**
   * Returns the log-probabilities, under the current weights, of the completions' tokens with loss
   * weight; the values at other tokens are undefined. Weights and optimizer do not change.
   *
   * @return an array for each sequence, an element for each completion token
   */
  List<double[]> logProbs(List<TrainingSequence> batch, double temperature);

  /** Freezes a copy of the current weights as the reference policy, in place of a former one. */
  void freezeReference();

  /**
   * Returns the log-probabilities, under the reference policy, of the completions' tokens with loss
   * weight; the values at other tokens are undefined. Weights and optimizer do not change.
   *
   * @return an array for each sequence, an element for each completion token
   * @throws IllegalArgumentException if no reference is frozen
   */
  List<double[]> referenceLogProbs(List<TrainingSequence> batch, double temperature);

  /** Whether the engine has a teacher; without one the reference policy is the teacher. */
  boolean hasTeacher();

  /**
   * Returns the tokens that are most likely under the teacher at each completion token with loss
   * weight, most likely first; the rows of other tokens are zeros. The teacher's prompts may differ
   * from the policy's: the given sequences then differ in their prompts only.
   *
   * @param topK from 1 to the size of the vocabulary
   * @throws IllegalArgumentException if the reference is the teacher and none is frozen, or {@code
   *     topK} is out of range
   */
  List<TeacherTokens> teacherTokens(List<TrainingSequence> batch, int topK, double temperature);

  /** Returns a copy of the current weights as {@code version}. */
  WeightSnapshot snapshot(WeightVersion version);

  /**
   * Writes weights (safetensors with Hugging Face names, config.json, tokenizer.json), optimizer
   * state and reference into a directory that exists and is empty. Durable when it returns.
   */
  void save(Path directory) throws IOException;

  /**
   * Restores the state that {@link #save} wrote; training then continues bit for bit as it would
   * have.
   */
  void restore(Path directory) throws IOException;

  @Override
  void close();
}
