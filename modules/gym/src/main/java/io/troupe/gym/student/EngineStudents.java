package io.troupe.gym.student;

import io.troupe.chat.TurnEnd;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.prompt.PromptOrder;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.gym.item.TrainingRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Students that this process computes: supervised steps of a trainer, answers of a sampler. Steps
 * are seeded, so that the same rows make the same student.
 *
 * <p>The trainer is closed before answers are sampled and the sampler before a training, so that
 * one accelerator holds one of them at a time. Not safe for use by several threads.
 */
public final class EngineStudents implements Students {
  private static final double LAST_RATE = 0.1;

  private final PolicyEngines engines;
  private final StudentFit settings;
  private final StudentSampler sampler;

  /** Students over a policy's engines, which are closed with them. */
  public EngineStudents(PolicyEngines engines, StudentFit settings) {
    this.engines = engines;
    this.settings = settings;
    this.sampler = new StudentSampler(engines, settings.maxTokens(), new TurnEnd.Unmarked());
  }

  @Override
  public Outcome makeBase(long seed, List<TrainingRow> rows, Path folder) throws IOException {
    try (TrainingEngine trainer = engines.newTrainer(seed)) {
      return fit(trainer, rows, settings.baseSteps(), settings.baseRate(), seed, folder);
    }
  }

  @Override
  public Outcome train(
      Path base, List<TrainingRow> rows, List<TrainingRow> replay, long seed, Path folder)
      throws IOException {
    List<TrainingRow> all = settings.withReplay(rows, replay, seed);
    int steps =
        Math.max(1, (int) Math.ceil((double) settings.epochs() * all.size() / settings.batch()));
    try (TrainingEngine trainer = engines.newTrainer(seed)) {
      trainer.restore(base);
      return fit(trainer, all, steps, settings.rate(), seed, folder);
    }
  }

  private Outcome fit(
      TrainingEngine trainer,
      List<TrainingRow> rows,
      int steps,
      double rate,
      long seed,
      Path folder)
      throws IOException {
    double loss = 0;
    for (int step = 0; step < steps; step++) {
      double falling = rate * (1 - (1 - LAST_RATE) * step / steps);
      StepOutcome outcome =
          trainer.trainSupervised(
              batch(rows, step, seed), new OptimizerSettings(falling, 0.9, 0.95, 1e-8, 0.01, 1));
      switch (outcome) {
        case StepOutcome.Stepped done -> loss = done.loss();
        case StepOutcome.Skipped(String reason) -> {
          return new Outcome.NotFinite(
              "step %d of %d: %s; lower the learning rate".formatted(step + 1, steps, reason));
        }
      }
    }
    Files.createDirectories(folder);
    trainer.save(folder);
    return new Outcome.Fitted(steps, loss);
  }

  /** The rows of a step: pass after pass over all rows, each in an order of its own. */
  private List<TrainingSequence> batch(List<TrainingRow> rows, int step, long seed) {
    Tokenizer tokenizer = engines.tokenizer();
    List<SupervisedExample> shown = new ArrayList<>();
    int size = Math.min(settings.batch(), rows.size());
    for (long i = (long) step * size; i < (long) (step + 1) * size; i++) {
      TrainingRow row =
          rows.get(PromptOrder.at(seed, i / rows.size(), (int) (i % rows.size()), rows.size()));
      shown.add(
          SupervisedExample.answered(
              row.id(),
              tokenizer.encodeWithSpecial(row.item().prompt()),
              tokenizer.encode(row.response()),
              tokenizer.endOfSequence()));
    }
    return SupervisedExample.sequences(shown);
  }

  @Override
  public List<List<String>> answer(Path student, List<String> prompts, int samples, long seed)
      throws IOException {
    try (TrainingEngine weights = engines.newTrainer(seed)) {
      weights.restore(student);
      return sampler.responses(weights.snapshot(WeightVersion.BASE), prompts, samples, seed);
    }
  }

  @Override
  public void close() {
    engines.close();
  }
}
