package io.troupe.gym.student;

import io.troupe.core.SplitMix64;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.prompt.PromptOrder;
import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
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
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Students that this process computes: supervised steps of a trainer, answers of a sampler. Steps
 * are seeded, so that the same rows make the same student.
 *
 * <p>The trainer is closed before answers are sampled and the sampler before a training, so that
 * one accelerator holds one of them at a time. Not safe for use by several threads.
 */
public final class EngineStudents implements Students {
  private static final int CHUNK = 512;
  private static final double LAST_RATE = 0.1;

  private final PolicyEngines engines;
  private final StudentFit settings;
  private long requests;

  /** Students over a policy's engines, which are closed with them. */
  public EngineStudents(PolicyEngines engines, StudentFit settings) {
    this.engines = engines;
    this.settings = settings;
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
    List<TrainingRow> all = new ArrayList<>(rows);
    int replayed = replay.isEmpty() ? 0 : (int) Math.round(settings.replay() * rows.size());
    for (int i = 0; i < replayed; i++) {
      all.add(
          replay.get(
              PromptOrder.at(seed, 1L + i / replay.size(), i % replay.size(), replay.size())));
    }
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
    SamplingSettings sampling =
        samples == 1
            ? SamplingSettings.greedy(settings.maxTokens())
            : new SamplingSettings(1, settings.maxTokens());
    List<List<String>> responses = new ArrayList<>();
    try (TrainingEngine weights = engines.newTrainer(seed)) {
      weights.restore(student);
      try (SamplingEngine sampler = engines.newSampler()) {
        sampler.load(weights.snapshot(WeightVersion.BASE)).toCompletableFuture().join();
        for (int from = 0; from < prompts.size(); from += CHUNK) {
          List<String> some = prompts.subList(from, Math.min(prompts.size(), from + CHUNK));
          List<SampleRequest> asked = new ArrayList<>();
          for (int i = 0; i < some.size(); i++) {
            asked.add(
                new SampleRequest(
                    new LeaseId(new GroupId(++requests), 1),
                    engines.tokenizer().encodeWithSpecial(some.get(i)),
                    samples,
                    sampling,
                    SplitMix64.mix(seed + from + i)));
          }
          for (CompletionStage<List<Completion>> each : sampler.sample(asked)) {
            responses.add(
                each.toCompletableFuture().join().stream()
                    .map(completion -> engines.tokenizer().decode(completion.tokens()))
                    .toList());
          }
        }
      }
    }
    return responses;
  }

  /** Returns the digest of a student's weights, if the folder holds one. */
  static Optional<Path> weights(Path folder) {
    Path file = folder.resolve("model.safetensors");
    return Files.isRegularFile(file) ? Optional.of(file) : Optional.empty();
  }

  @Override
  public void close() {
    engines.close();
  }
}
