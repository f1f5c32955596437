package io.troupe.run.evaluation;

import static io.troupe.core.Require.require;

import io.troupe.base.failure.Causes;
import io.troupe.config.RunConfig;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.evaluation.Answer;
import io.troupe.evaluation.EvaluationItem;
import io.troupe.evaluation.Question;
import io.troupe.run.compose.Composition;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.run.task.VerifierPools;
import io.troupe.runtime.prompt.SourceSampling;
import io.troupe.serve.model.ServedWeights;
import io.troupe.verifiers.pool.TimedVerdict;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/**
 * A few completions of a run's first prompts, sampled with the weights that the run begins with, as
 * the run samples, and judged by its verifiers. Nothing is trained and nothing is written.
 *
 * <p>This process samples, also where inference servers would for the run.
 *
 * @param composition of the run, with its weights
 * @param prompts that are tried, the first of each data set in turn
 * @param completions of each
 * @param stop completes when no more are wanted
 * @param nanos a clock
 */
public record PolicyTrial(
    Composition composition,
    int prompts,
    int completions,
    CompletableFuture<Integer> stop,
    LongSupplier nanos) {
  private static final double NANOS = 1e9;

  /**
   * A prompt with its completions.
   *
   * @param seconds in which they were sampled
   * @param completions in their order
   */
  public record TriedPrompt(
      Prompt prompt, int tokens, double seconds, List<TriedCompletion> completions) {
    public TriedPrompt {
      completions = List.copyOf(completions);
    }
  }

  /** A completion with its verdict. */
  public record TriedCompletion(Answer answer, TimedVerdict verdict) {}

  public PolicyTrial {
    require(prompts >= 1 && completions >= 1, "a trial has a prompt and a completion");
  }

  /** What a trial of a configuration does otherwise than the run; one sentence each. */
  public static List<String> notes(RunConfig config) {
    List<String> notes = new ArrayList<>();
    if (config.rollout().sidecars().count() > 0 || !config.rollout().endpoints().urls().isEmpty()) {
      notes.add(
          "inference servers sample for the run; for this trial the process itself does, with the"
              + " same weights and sampling settings");
    }
    if (config.warmup().steps() > 0) {
      notes.add("the run makes supervised steps first (warmup); the trial is before them");
    }
    return notes;
  }

  /**
   * Samples and judges, prompt after prompt; less than all where it is stopped.
   *
   * @throws IOException if weights or verifiers cannot be opened, or sampling fails
   */
  public List<TriedPrompt> run() throws IOException, InvalidVerifierException {
    try (PolicyEngines engines = composition.engines();
        VerifierPools verifiers = composition.openVerifiers(false)) {
      WeightSnapshot weights = weights(engines);
      TaskAnswers source =
          new TaskAnswers(engines.newSampler(), engines.tokenizer(), engines.contextLength());
      try (source) {
        SamplingEngine engine = source.engine();
        SourceSampling sampling = composition.settings().sampling();
        source.add(sampling.episodes());
        engine.load(weights).toCompletableFuture().join();
        List<TriedPrompt> tried = new ArrayList<>();
        for (Prompt prompt : chosen()) {
          Optional<TriedPrompt> next =
              tried(
                  new EvaluationItem(prompt, Map.of(), sampling.of(prompt)),
                  source,
                  verifiers,
                  tried.size());
          if (next.isEmpty()) {
            return tried;
          }
          tried.add(next.get());
        }
        return tried;
      }
    }
  }

  /** A checkpoint is read; a model of its own is made as the run makes it. */
  private WeightSnapshot weights(PolicyEngines engines) throws IOException {
    if (composition.checkpointFolder().isPresent()) {
      return ServedWeights.read(composition.checkpointFolder().get(), WeightVersion.BASE);
    }
    try (TrainingEngine trainer = engines.newTrainer(composition.config().run().seed())) {
      return trainer.snapshot(WeightVersion.BASE);
    }
  }

  private Optional<TriedPrompt> tried(
      EvaluationItem item, TaskAnswers source, VerifierPools verifiers, int number)
      throws IOException {
    long began = nanos.getAsLong();
    long seed = composition.config().run().seed() + number;
    Optional<List<Answer>> answers =
        awaited(source.answer(List.of(new Question(item, completions, seed))).getFirst());
    double seconds = (nanos.getAsLong() - began) / NANOS;
    List<TriedCompletion> judged = new ArrayList<>();
    for (Answer answer : answers.orElse(List.of())) {
      Optional<TimedVerdict> verdict =
          awaited(verifiers.rewards().judge(item.prompt(), answer.judged(item.prompt())));
      if (verdict.isEmpty()) {
        return Optional.empty();
      }
      judged.add(new TriedCompletion(answer, verdict.get()));
    }
    int tokens = composition.tokenizer().encodeWithSpecial(item.prompt().text()).length;
    return answers.map(_ -> new TriedPrompt(item.prompt(), tokens, seconds, judged));
  }

  /** Returns what a stage completes with; nothing once the trial is stopped. */
  private <T> Optional<T> awaited(CompletionStage<T> stage) throws IOException {
    CompletableFuture<T> result = stage.toCompletableFuture();
    try {
      Object _ = CompletableFuture.anyOf(stop, result).join();
      return stop.isDone() ? Optional.empty() : Optional.of(result.join());
    } catch (CompletionException failure) {
      throw new IOException(
          "a completion could not be sampled: " + Causes.message(Causes.of(failure)), failure);
    }
  }

  /** The first prompts of each data set, in turn. */
  private List<Prompt> chosen() {
    Map<String, List<Prompt>> bySource = new LinkedHashMap<>();
    for (Prompt prompt : composition.task().train()) {
      List<Prompt> own = bySource.computeIfAbsent(prompt.source(), _ -> new ArrayList<>());
      if (own.size() < prompts) {
        own.add(prompt);
      }
    }
    List<Iterator<Prompt>> sources = bySource.values().stream().map(List::iterator).toList();
    List<Prompt> chosen = new ArrayList<>();
    for (int round = 0; round < prompts && chosen.size() < prompts; round++) {
      sources.stream()
          .filter(Iterator::hasNext)
          .limit(prompts - chosen.size())
          .forEach(source -> chosen.add(source.next()));
    }
    return chosen;
  }
}
