package io.troupe.runtime;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptOrder;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.episode.EpisodeSampler;
import io.troupe.runtime.episode.EpisodeTrace;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.SourceSampling;
import io.troupe.verifiers.pool.VerifierService;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/** A fixed set of held-out prompts, answered greedily and judged: one completion a prompt. */
public final class HeldOutEvaluation {
  private final List<Prompt> prompts;
  private final PromptPool pool;
  private final Tokenizer tokenizer;
  private final VerifierService verifier;
  private final SourceSampling settings;

  /**
   * The examination of a run: the same prompts every time.
   *
   * @param heldOut all held-out prompts
   * @param most how many of them to use; they are spread over the whole set
   * @param maxTokens of an answer
   */
  public HeldOutEvaluation(
      List<Prompt> heldOut,
      int most,
      Tokenizer tokenizer,
      VerifierService verifier,
      int maxTokens) {
    this(heldOut, most, tokenizer, verifier, SourceSampling.of(SamplingSettings.greedy(maxTokens)));
  }

  /**
   * The same with settings of its own.
   *
   * @param settings greedy ones, so that every evaluation asks the same
   */
  public HeldOutEvaluation(
      List<Prompt> heldOut,
      int most,
      Tokenizer tokenizer,
      VerifierService verifier,
      SourceSampling settings) {
    int count = Math.min(most, heldOut.size());
    this.prompts =
        IntStream.range(0, count)
            .mapToObj(i -> heldOut.get(PromptOrder.at(0, 0, i, heldOut.size())))
            .toList();
    this.pool = new PromptPool(prompts, tokenizer, 0);
    this.tokenizer = tokenizer;
    this.verifier = verifier;
    this.settings = settings;
  }

  /** How many prompts. */
  public int size() {
    return prompts.size();
  }

  /** The prompts with their tokens. */
  public PromptPool pool() {
    return pool;
  }

  /**
   * The greedy answers, sampled with exactly these weights; the stage fails when the engine does.
   *
   * @param answered called with each prompt that is answered, on the engine's thread
   */
  CompletionStage<List<Episode>> answers(
      SamplingEngine engine, int contextLength, WeightSnapshot weights, Runnable answered) {
    EpisodeSampler sampler =
        new EpisodeSampler(engine, tokenizer, contextLength, settings.episodes());
    return engine.load(weights).thenCompose(_ -> answers(sampler, answered));
  }

  private CompletionStage<List<Episode>> answers(EpisodeSampler sampler, Runnable answered) {
    List<SampleRequest> requests =
        IntStream.range(0, prompts.size())
            .mapToObj(
                i ->
                    new SampleRequest(
                        new LeaseId(new GroupId(i + 1L), 1),
                        pool.tokens(i),
                        1,
                        settings.of(prompts.get(i)),
                        0))
            .toList();
    List<CompletableFuture<List<Episode>>> stages =
        sampler.sample(requests, prompts).stream()
            .map(stage -> stage.whenComplete((_, _) -> answered.run()).toCompletableFuture())
            .toList();
    return CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new))
        .thenApply(
            _ -> {
              List<Episode> answers = new ArrayList<>();
              stages.forEach(stage -> answers.add(stage.join().getFirst()));
              return answers;
            });
  }

  /**
   * The share of the answers that can be judged which earn the full reward; it fails when none can
   * be judged.
   */
  CompletionStage<Double> grade(List<Episode> answers) {
    return VerdictSummary.of(
            IntStream.range(0, answers.size())
                .mapToObj(
                    i -> verifier.verify(prompts.get(i), text(prompts.get(i), answers.get(i))))
                .toList())
        .thenApply(this::accuracy);
  }

  private double accuracy(List<Verdict> verdicts) {
    int right = 0;
    int judged = 0;
    for (Verdict verdict : verdicts) {
      if (verdict instanceof Verdict.Scored scored) {
        judged++;
        right += scored.passed() ? 1 : 0;
      }
    }
    for (int i = 0; i < verdicts.size() && judged == 0; i++) {
      if (verdicts.get(i) instanceof Verdict.Unverifiable(var _, String reason)) {
        throw new IllegalStateException(
            "held-out prompt %s cannot be verified: %s".formatted(prompts.get(i).id(), reason));
      }
    }
    return (double) right / judged;
  }

  private String text(Prompt prompt, Episode answer) {
    return EpisodeTrace.answer(answer, tokenizer, settings.of(prompt).stops());
  }
}
