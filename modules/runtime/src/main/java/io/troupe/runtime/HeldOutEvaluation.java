package io.troupe.runtime;

import io.troupe.core.evaluation.PromptSeed;
import io.troupe.core.evaluation.PromptTally;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptOrder;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.HeldTurns;
import io.troupe.runtime.episode.EpisodeSampler;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.runtime.episode.SampledEpisode;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.SourceSampling;
import io.troupe.runtime.rollout.VerdictSummary;
import io.troupe.verifiers.pool.VerifierService;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A fixed set of prompts that a run answers with each weight version it evaluates, and judges. */
public final class HeldOutEvaluation {
  private final List<Prompt> prompts;
  private final PromptPool pool;
  private final Tokenizer tokenizer;
  private final VerifierService verifier;
  private final Function<Prompt, SamplingSettings> settings;
  private final EpisodeSettings episodes;
  private final int samples;
  private final long seed;
  private final AtomicBoolean saidUnreached = new AtomicBoolean();

  /**
   * The examination of a run: the same prompts every time.
   *
   * @param heldOut all held-out prompts
   * @param most number of prompts to use; they are spread over the whole set
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
   * An evaluation with settings of its own.
   *
   * @param settings greedy ones, so that every evaluation asks the same
   */
  public HeldOutEvaluation(
      List<Prompt> heldOut,
      int most,
      Tokenizer tokenizer,
      VerifierService verifier,
      SourceSampling settings) {
    this(
        IntStream.range(0, Math.min(most, heldOut.size()))
            .mapToObj(i -> heldOut.get(PromptOrder.at(0, 0, i, heldOut.size())))
            .toList(),
        tokenizer,
        verifier,
        settings::of,
        settings.episodes(),
        1,
        0);
  }

  /**
   * An evaluation of exactly these prompts.
   *
   * @param settings of each prompt
   * @param episodes form of the samples: one answer, or turns with tools
   * @param samples of each prompt
   */
  public HeldOutEvaluation(
      List<Prompt> prompts,
      Tokenizer tokenizer,
      VerifierService verifier,
      Function<Prompt, SamplingSettings> settings,
      EpisodeSettings episodes,
      int samples,
      long seed) {
    this.prompts = List.copyOf(prompts);
    this.pool = new PromptPool(this.prompts, tokenizer, 0);
    this.tokenizer = tokenizer;
    this.verifier = verifier;
    this.settings = settings;
    this.episodes = episodes;
    this.samples = samples;
    this.seed = seed;
  }

  /** Returns the number of prompts. */
  public int size() {
    return prompts.size();
  }

  /** The prompts with their tokens. */
  public PromptPool pool() {
    return pool;
  }

  /**
   * The answers to each prompt in turn, sampled with the engine's weights; the stage fails when the
   * engine does.
   *
   * @param answered called with each prompt that is answered, on the engine's thread
   */
  CompletionStage<List<SampledEpisode>> answers(
      SamplingEngine engine, int contextLength, Runnable answered) {
    EpisodeSampler sampler =
        new EpisodeSampler(engine, tokenizer, contextLength, episodes, HeldTurns.ofEvaluation());
    List<SampleRequest> requests =
        IntStream.range(0, prompts.size())
            .mapToObj(
                i ->
                    new SampleRequest(
                        new LeaseId(new GroupId(i + 1L), 1),
                        pool.tokens(i),
                        samples,
                        settings.apply(prompts.get(i)),
                        PromptSeed.of(seed, prompts.get(i).id().value())))
            .toList();
    List<CompletableFuture<List<SampledEpisode>>> stages =
        sampler.sample(requests, prompts).stream()
            .map(stage -> stage.whenComplete((_, _) -> answered.run()).toCompletableFuture())
            .toList();
    return CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new))
        .whenComplete((_, _) -> sampler.close())
        .thenApply(_ -> stages.stream().flatMap(stage -> stage.join().stream()).toList());
  }

  /**
   * An answer and what it is worth.
   *
   * @param sample of its prompt, from 0
   * @param text that was judged
   * @param tokens sampled
   * @param truncated whether a limit of tokens ended it
   */
  record JudgedAnswer(
      String id, int sample, String text, int tokens, boolean truncated, Verdict verdict) {}

  /**
   * The result of an evaluation.
   *
   * @param passed mean over prompts of the share of judged completions that pass
   * @param reward mean over prompts of the mean reward of judged completions
   * @param judged completions that a verifier judged
   * @param notes what a user should know: samples that could not be judged, with the reason for the
   *     first, and once, that graded rewards are all below the mark
   * @param answers each one with its verdict
   */
  record HeldOutScore(
      double passed, double reward, int judged, List<String> notes, List<JudgedAnswer> answers) {
    /** Whether a reward says more than whether its answer passes. */
    boolean graded() {
      return answers.stream()
          .anyMatch(
              answer ->
                  answer.verdict() instanceof Verdict.Scored scored
                      && scored.reward() != (scored.passed() ? 1 : 0));
    }
  }

  /** Judges the completions. One that cannot be judged is counted apart. */
  CompletionStage<HeldOutScore> grade(List<SampledEpisode> answers) {
    List<EpisodeText> texts =
        IntStream.range(0, answers.size())
            .mapToObj(i -> text(prompts.get(i / samples), answers.get(i)))
            .toList();
    return VerdictSummary.of(
            IntStream.range(0, answers.size())
                .mapToObj(i -> verifier.verify(prompts.get(i / samples), texts.get(i)))
                .toList())
        .thenApply(verdicts -> score(verdicts, judged(answers, texts, verdicts)));
  }

  private List<JudgedAnswer> judged(
      List<SampledEpisode> answers, List<EpisodeText> texts, List<Verdict> verdicts) {
    return IntStream.range(0, answers.size())
        .mapToObj(
            i ->
                new JudgedAnswer(
                    prompts.get(i / samples).id().value(),
                    i % samples,
                    texts.get(i).answer(),
                    answers.get(i).episode().sampledTokens(),
                    answers.get(i).truncated(),
                    verdicts.get(i)))
        .toList();
  }

  private HeldOutScore score(List<Verdict> verdicts, List<JudgedAnswer> answers) {
    List<PromptTally> tallies = new ArrayList<>();
    List<String> reasons = new ArrayList<>();
    int judged = 0;
    for (int prompt = 0; prompt < prompts.size(); prompt++) {
      PromptTally tally = PromptTally.NONE;
      for (Verdict verdict : verdicts.subList(prompt * samples, (prompt + 1) * samples)) {
        switch (verdict) {
          case Verdict.Scored scored ->
              tally = tally.judged(scored.reward(), scored.passed(), false);
          case Verdict.Unverifiable(var _, String reason) -> {
            tally = tally.unjudged(false);
            reasons.add(
                "held-out prompt %s cannot be verified: %s"
                    .formatted(prompts.get(prompt).id(), reason));
          }
        }
      }
      tallies.add(tally);
      judged += tally.judged();
    }
    double passed = average(tallies.stream().map(tally -> tally.pass(1)));
    double reward = average(tallies.stream().map(PromptTally::mean));
    List<String> notes = new ArrayList<>();
    if (!reasons.isEmpty()) {
      notes.add(
          "%d of %d answers could not be judged; %s"
              .formatted(reasons.size(), verdicts.size(), reasons.getFirst()));
    }
    unreached(verdicts).filter(_ -> !saidUnreached.getAndSet(true)).ifPresent(notes::add);
    return new HeldOutScore(passed, reward, judged, notes, answers);
  }

  private static Optional<String> unreached(List<Verdict> verdicts) {
    List<Verdict.Scored> scored =
        verdicts.stream()
            .filter(Verdict.Scored.class::isInstance)
            .map(Verdict.Scored.class::cast)
            .toList();
    DoubleSummaryStatistics rewards =
        scored.stream().mapToDouble(Verdict.Scored::reward).summaryStatistics();
    return scored.stream()
        .findFirst()
        .flatMap(one -> one.mark().unreached(rewards.getMin(), rewards.getMax()));
  }

  private static double average(Stream<OptionalDouble> ofPrompts) {
    return ofPrompts.flatMapToDouble(OptionalDouble::stream).average().orElse(0);
  }

  private EpisodeText text(Prompt prompt, SampledEpisode answer) {
    return answer.text(prompt, tokenizer, settings.apply(prompt).stops(), episodes);
  }
}
