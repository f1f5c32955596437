package io.troupe.app;

import static io.troupe.core.Require.require;

import io.troupe.base.failure.Causes;
import io.troupe.core.train.LossSettings;
import io.troupe.core.train.TeacherTokens;
import io.troupe.core.train.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Optimisation;
import io.troupe.engine.Scorer;
import io.troupe.engine.StepOutcome;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.WeightSnapshot;
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
 * @param atATime sequences that the teacher is asked about at once
 */
record TaughtTrainer(TrainingEngine own, Scorer teacher, int atATime) implements TrainingEngine {
  @Override
  public boolean hasTeacher() {
    return true;
  }

  @Override
  public List<TeacherTokens> teacherTokens(
      List<TrainingSequence> batch, int topK, double temperature) {
    require(
        temperature == 1,
        "a teacher behind a URL tells its distribution at temperature 1, not %s; set"
            + " rollout.temperature to 1",
        temperature);
    try (ExecutorService asking =
        Executors.newFixedThreadPool(atATime, Thread.ofVirtual().factory())) {
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
      Optimisation optimisation) {
    return own.train(rollouts, examples, loss, optimisation);
  }

  @Override
  public StepOutcome imitate(List<TrainingSequence> batch, Optimisation optimisation) {
    return own.imitate(batch, optimisation);
  }

  @Override
  public void freezeReference() {
    own.freezeReference();
  }

  @Override
  public List<double[]> referenceLogProbs(List<TrainingSequence> batch, double temperature) {
    return own.referenceLogProbs(batch, temperature);
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    return own.snapshot(version);
  }

  @Override
  public void save(Path directory) throws IOException {
    own.save(directory);
  }

  @Override
  public void restore(Path directory) throws IOException {
    own.restore(directory);
  }

  @Override
  public void close() {
    own.close();
  }
}
