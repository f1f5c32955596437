package io.troupe.run.compose;

import static io.troupe.core.Require.require;

import io.troupe.base.failure.Causes;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Scorer;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A trainer whose teacher is a scorer.
 *
 * @param concurrency sequences that the teacher is asked about at once
 */
record DistillationTrainer(TrainingEngine delegate, Scorer teacher, int concurrency)
    implements TrainingEngine {
  @Override
  public boolean hasTeacher() {
    return true;
  }

  @Override
  public List<TeacherTokens> teacherTokens(
      List<TrainingSequence> batch, int topK, double temperature) {
    require(
        temperature == 1,
        "a teacher behind a URL reports its distribution at temperature 1, not %s; set"
            + " rollout.temperature to 1",
        temperature);
    try (ExecutorService asking =
        Executors.newFixedThreadPool(concurrency, Thread.ofVirtual().factory())) {
      List<CompletableFuture<TeacherTokens>> asked = new ArrayList<>();
      for (TrainingSequence sequence : batch) {
        asked.add(CompletableFuture.supplyAsync(() -> ask(sequence, topK), asking));
      }
      try {
        return asked.stream().map(CompletableFuture::join).toList();
      } catch (CompletionException failed) {
        asking.shutdownNow(); // the others would wait for the same teacher one after the other
        throw Causes.unchecked(failed);
      }
    }
  }

  private TeacherTokens ask(TrainingSequence sequence, int topK) {
    int prompt = sequence.prompt().length;
    int completion = sequence.completion().length;
    int[] tokens = new int[prompt + completion];
    System.arraycopy(sequence.prompt(), 0, tokens, 0, prompt);
    System.arraycopy(sequence.completion(), 0, tokens, prompt, completion);
    TeacherTokens said = teacher.score(tokens, topK).likeliest();
    int[][] ids = new int[completion][topK];
    float[][] logProbs = new float[completion][topK];
    for (int t = 0; t < completion; t++) {
      if (sequence.lossWeights()[t] != 0) {
        ids[t] = said.ids()[prompt - 1 + t];
        logProbs[t] = said.logProbs()[prompt - 1 + t];
      }
    }
    return new TeacherTokens(ids, logProbs);
  }

  @Override
  public StepOutcome train(
      List<TrainingSequence> rollouts,
      List<TrainingSequence> examples,
      LossSettings loss,
      OptimizerSettings optimisation) {
    return delegate.train(rollouts, examples, loss, optimisation);
  }

  @Override
  public StepOutcome trainSupervised(List<TrainingSequence> batch, OptimizerSettings optimisation) {
    return delegate.trainSupervised(batch, optimisation);
  }

  @Override
  public void freezeReference() {
    delegate.freezeReference();
  }

  @Override
  public List<double[]> logProbs(List<TrainingSequence> batch, double temperature) {
    return delegate.logProbs(batch, temperature);
  }

  @Override
  public List<double[]> referenceLogProbs(List<TrainingSequence> batch, double temperature) {
    return delegate.referenceLogProbs(batch, temperature);
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    return delegate.snapshot(version);
  }

  @Override
  public void save(Path directory) throws IOException {
    delegate.save(directory);
  }

  @Override
  public void restore(Path directory) throws IOException {
    delegate.restore(directory);
  }

  @Override
  public void close() {
    delegate.close();
  }
}
