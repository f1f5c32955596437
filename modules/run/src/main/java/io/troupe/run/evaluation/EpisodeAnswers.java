package io.troupe.run.evaluation;

import io.troupe.base.failure.Causes;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.ToolRun;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.HeldTurns;
import io.troupe.evaluation.Answer;
import io.troupe.evaluation.EngineAnswers;
import io.troupe.evaluation.EvaluationItem;
import io.troupe.runtime.episode.EpisodeSampler;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.runtime.episode.EpisodeTrace;
import io.troupe.runtime.episode.SampledEpisode;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Samples the episodes of an evaluation as a run samples its own, with its tools or its agent. Work
 * that an environment or an agent program loses is done again, a few times.
 */
final class EpisodeAnswers implements EngineAnswers.PartSampler {
  private static final int ATTEMPTS = 3;

  private final Tokenizer tokenizer;
  private final EpisodeSampler sampler;

  /**
   * Opens the tools, or the agents' gateway.
   *
   * @param engine stays open when this is closed
   * @throws EnvironmentFailedException if the tools cannot be opened
   */
  EpisodeAnswers(
      SamplingEngine engine, Tokenizer tokenizer, int contextLength, EpisodeSettings episodes) {
    this.tokenizer = tokenizer;
    this.sampler =
        new EpisodeSampler(engine, tokenizer, contextLength, episodes, HeldTurns.ofEvaluation());
  }

  @Override
  public List<CompletionStage<List<Answer>>> sample(
      List<SampleRequest> requests, List<EvaluationItem> items) {
    List<CompletionStage<List<SampledEpisode>>> first =
        sampler.sample(requests, items.stream().map(EvaluationItem::prompt).toList());
    return IntStream.range(0, requests.size())
        .mapToObj(i -> answers(requests.get(i), items.get(i), first.get(i), 1))
        .toList();
  }

  private CompletionStage<List<Answer>> answers(
      SampleRequest request,
      EvaluationItem item,
      CompletionStage<List<SampledEpisode>> sampled,
      int attempt) {
    return sampled
        .handle(
            (episodes, failure) -> {
              if (failure == null) {
                return CompletableFuture.completedStage(
                    episodes.stream().map(each -> answer(item, each)).toList());
              }
              return attempt < ATTEMPTS && isLostWork(failure)
                  ? answers(
                      request,
                      item,
                      sampler.sample(List.of(request), List.of(item.prompt())).getFirst(),
                      attempt + 1)
                  : CompletableFuture.<List<Answer>>failedStage(failure);
            })
        .thenCompose(Function.identity());
  }

  private static boolean isLostWork(Throwable failure) {
    return Causes.of(failure) instanceof EnvironmentFailedException;
  }

  private Answer answer(EvaluationItem item, SampledEpisode sampled) {
    Episode episode = sampled.episode();
    EpisodeTrace trace = EpisodeTrace.of(sampled, tokenizer);
    return new Answer(
        EpisodeTrace.answer(episode, tokenizer, item.sampling().stops()),
        episode.sampledTokens(),
        sampled.truncated() ? Answer.LENGTH : Answer.STOP,
        new Answer.AnsweredEpisode(
            episode.stop().name().toLowerCase(Locale.ROOT),
            trace.turns().stream().map(EpisodeAnswers::turn).toList(),
            sampled.submission(),
            sampled.thoughtOpen(item.prompt(), tokenizer)));
  }

  private static Answer.AnswerTurn turn(EpisodeTrace.TurnTrace turn) {
    return new Answer.AnswerTurn(
        turn.agent(),
        turn.text().observed(),
        turn.text().sampled(),
        turn.versions().tokens(),
        turn.tools().stream().map(EpisodeAnswers::tool).toList(),
        turn.reward());
  }

  private static Answer.ToolUse tool(ToolRun run) {
    return new Answer.ToolUse(
        run.name(), run.outcome().name().toLowerCase(Locale.ROOT), run.exit(), run.bytes());
  }

  @Override
  public void close() {
    sampler.close();
  }
}
