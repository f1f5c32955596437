package io.troupe.runtime.episode;

import io.troupe.core.completion.Completion;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.HeldTurns;
import io.troupe.gateway.agent.AgentHost;
import io.troupe.gateway.agent.AgentSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;

/**
 * Samples the episodes of groups. The first turn of a group is one request of all its completions;
 * later turns are requests of their own, since tools have answered each episode something else.
 *
 * <p>An episode with tools is one virtual thread from its second turn on, which waits for engine
 * and tools: thousands of them cost heap only.
 */
public final class EpisodeSampler implements AutoCloseable {
  private final SamplingEngine engine;
  private final Tokenizer tokenizer;
  private final int contextLength;
  private final EpisodeSettings settings;
  private final HeldTurns held;
  private final Map<LeaseId, List<ToolEpisode>> running = new ConcurrentHashMap<>();

  /** The host of agents, where agents take the episodes. */
  private final Optional<AgentHost> agents;

  /** The environments, where episodes have tools. */
  private final Optional<EnvironmentPool> environments;

  /**
   * Samples with an engine, which it does not close.
   *
   * @param contextLength most tokens of a sequence
   * @param held record of turns that wait
   */
  public EpisodeSampler(
      SamplingEngine engine,
      Tokenizer tokenizer,
      int contextLength,
      EpisodeSettings settings,
      HeldTurns held) {
    this.engine = engine;
    this.tokenizer = tokenizer;
    this.contextLength = contextLength;
    this.settings = settings;
    this.held = held;
    this.agents =
        settings instanceof EpisodeSettings.Agents(AgentSettings program)
            ? Optional.of(AgentHost.open(program, engine, tokenizer, contextLength, held))
            : Optional.empty();
    this.environments =
        settings instanceof EpisodeSettings.ToolLoop loop
            ? Optional.of(loop.provider().open())
            : Optional.empty();
  }

  /**
   * Starts to sample groups, as {@link SamplingEngine#sample}.
   *
   * @param prompts content of each request
   * @return one stage a request: the group's episodes, or the failure of the engine or of an
   *     environment
   */
  public List<CompletionStage<List<SampledEpisode>>> sample(
      List<SampleRequest> requests, List<Prompt> prompts) {
    return switch (settings) {
      case EpisodeSettings.SingleTurn _ ->
          zip(
              requests,
              engine.sample(requests),
              (i, stage) ->
                  stage.thenApply(
                      completions ->
                          completions.stream()
                              .map(each -> Episode.of(requests.get(i).prompt(), each))
                              .map(SampledEpisode::of)
                              .toList()));
      case EpisodeSettings.Agents _ ->
          IntStream.range(0, requests.size())
              .mapToObj(
                  i ->
                      agents
                          .orElseThrow()
                          .run(requests.get(i), prompts.get(i))
                          .thenApply(all -> all.stream().map(SampledEpisode::of).toList()))
              .toList();
      case EpisodeSettings.ToolLoop loop -> {
        List<SampleRequest> first =
            requests.stream()
                .map(
                    request ->
                        request.withSettings(request.settings().within(0, loop.format().stops())))
                .toList();
        long now = ToolEpisode.millis();
        yield zip(
            requests,
            engine.sample(first),
            (i, stage) ->
                stage.thenCompose(
                    completions -> toEnd(loop, first.get(i), prompts.get(i), completions, now)));
      }
    };
  }

  /** Stops work under a lease; its stage fails. */
  public void cancel(LeaseId lease) {
    engine.cancel(lease);
    running.getOrDefault(lease, List.of()).forEach(ToolEpisode::cancel);
    agents.ifPresent(host -> host.cancel(lease));
  }

  /** Ends agents and environments, whose stages fail; the engine stays open. */
  @Override
  public void close() {
    agents.ifPresent(AgentHost::close);
    environments.ifPresent(EnvironmentPool::close);
  }

  private CompletionStage<List<SampledEpisode>> toEnd(
      EpisodeSettings.ToolLoop loop,
      SampleRequest request,
      Prompt prompt,
      List<Completion> first,
      long startMillis) {
    List<ToolEpisode> episodes =
        IntStream.range(0, first.size())
            .mapToObj(
                i ->
                    new ToolEpisode(
                        new ToolEpisode.Wiring(
                            engine,
                            tokenizer,
                            contextLength,
                            loop,
                            environments.orElseThrow(),
                            held),
                        request,
                        prompt,
                        i))
            .toList();
    running.put(request.lease(), episodes);
    Executor threads = task -> Thread.ofVirtual().name("episode ", 0).start(task);
    List<CompletableFuture<SampledEpisode>> ends = new ArrayList<>();
    for (int i = 0; i < first.size(); i++) {
      ToolEpisode episode = episodes.get(i);
      Completion completion = first.get(i);
      ends.add(CompletableFuture.supplyAsync(() -> episode.run(completion, startMillis), threads));
    }
    return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
        .whenComplete((_, _) -> running.remove(request.lease(), episodes))
        .thenApply(_ -> ends.stream().map(CompletableFuture::join).toList());
  }

  private interface Step {
    CompletionStage<List<SampledEpisode>> then(int index, CompletionStage<List<Completion>> stage);
  }

  private static List<CompletionStage<List<SampledEpisode>>> zip(
      List<SampleRequest> requests, List<CompletionStage<List<Completion>>> stages, Step step) {
    return IntStream.range(0, requests.size()).mapToObj(i -> step.then(i, stages.get(i))).toList();
  }
}
