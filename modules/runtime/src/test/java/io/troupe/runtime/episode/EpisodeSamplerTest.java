package io.troupe.runtime.episode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.TurnRewards;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.EpisodeSequence;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.ToolRun;
import io.troupe.core.rollout.Turn;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.toy.ScriptedEngine;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.HeldTurns;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.format.InlineFormat;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class EpisodeSamplerTest {
  private static final CharacterTokenizer TOKENIZER =
      new CharacterTokenizer("[]acehlopr 0123456789*=;");
  private static final LeaseId LEASE = new LeaseId(new GroupId(3), 9);
  private static final Prompt PROMPT = new Prompt(new PromptId("p"), "s", "2*3=", "6", "");

  /** Environments with the tool {@code calc}, which does what a function says. */
  private record Tools(Function<ToolCall, ToolResult> step) implements EnvironmentProvider {
    @Override
    public String name() {
      return "test";
    }

    @Override
    public List<ToolSchema> tools() {
      return List.of(new ToolSchema("calc", "Calculates.", "{}"));
    }

    @Override
    public EnvironmentPool open() {
      return () ->
          new Environment() {
            @Override
            public void reset(Prompt prompt, long seed) {
              assertThat(prompt).isEqualTo(PROMPT);
            }

            @Override
            public ToolResult step(ToolCall call) {
              return step.apply(call);
            }

            @Override
            public void close() {
              // Nothing is held.
            }
          };
    }
  }

  private static EpisodeSettings.ToolLoop loop(
      Function<ToolCall, ToolResult> step, int turns, int calls, Duration timeout, boolean ends) {
    return new EpisodeSettings.ToolLoop(
        new Tools(step), new InlineFormat(), turns, calls, timeout, ends);
  }

  private static EpisodeSettings.ToolLoop loop(int turns, int calls, boolean ends) {
    return loop(_ -> ToolResult.of("6"), turns, calls, Duration.ofSeconds(20), ends);
  }

  private static List<Episode> sampled(
      Function<String, String> answers, EpisodeSettings settings, int context) {
    return judged(answers, settings, context).stream().map(SampledEpisode::episode).toList();
  }

  private static List<SampledEpisode> judged(
      Function<String, String> answers, EpisodeSettings settings, int context) {
    int[] prompt = TOKENIZER.encode(PROMPT.text());
    SampleRequest request = new SampleRequest(LEASE, prompt, 2, new SamplingSettings(1, 16), 5);
    return new EpisodeSampler(
            new ScriptedEngine(TOKENIZER, answers),
            TOKENIZER,
            context,
            settings,
            HeldTurns.ofGroups())
        .sample(List.of(request), List.of(PROMPT))
        .getFirst()
        .toCompletableFuture()
        .join();
  }

  private static StopReason stop(Function<String, String> answers, EpisodeSettings settings) {
    return sampled(answers, settings, 64).getFirst().stop();
  }

  @Test
  void sample_callThenAnswer_isOneSequenceOfTwoTurns() {
    List<Episode> episodes =
        sampled(text -> text.endsWith("6;") ? "6" : "[calc 2*3]", loop(4, 4, false), 64);
    assertThat(episodes).hasSize(2);
    Episode episode = episodes.getFirst();
    assertThat(episode.stop()).isEqualTo(StopReason.COMPLETED);
    assertThat(episode.sequences()).hasSize(1);
    EpisodeSequence sequence = episode.sequences().getFirst();
    assertThat(TOKENIZER.decode(sequence.tokens())).isEqualTo("[calc 2*3]6;6");
    assertThat(sequence.turns()).extracting(Turn::ordinal).containsExactly(0, 1);
    assertThat(TOKENIZER.decode(sequence.turns().getLast().observed())).isEqualTo("6;");
    ToolRun run = sequence.turns().getFirst().tools().getFirst();
    assertThat(run.id()).isEqualTo("call_0_0");
    assertThat(run.outcome()).isEqualTo(ToolRun.Outcome.RAN);
    assertThat(EpisodeTrace.answer(episode, TOKENIZER, List.of())).isEqualTo("6");
    assertThat(EpisodeTrace.of(SampledEpisode.of(episode), TOKENIZER).turns())
        .extracting(turn -> turn.text().sampled())
        .containsExactly("[calc 2*3]", "6");
  }

  @Test
  void sample_callsThatAreRewarded_areSummedTurnByTurn() {
    EpisodeSettings.ToolLoop loop =
        loop(
            call ->
                new ToolResult(
                    "1",
                    0,
                    ToolRun.Outcome.RAN,
                    false,
                    call.arguments().equals("2*3") ? 0.25 : -0.125),
            3,
            9,
            Duration.ofSeconds(20),
            false);

    SampledEpisode sampled =
        judged(text -> text.endsWith("1;") ? "[calc 1]" : "[calc 2*3]", loop, 64).getFirst();

    assertThat(sampled.episode().stop()).isEqualTo(StopReason.MAX_TURNS);
    assertThat(sampled.rewards()).containsExactly(0.25, -0.125, 0.0);
    assertThat(TurnRewards.of(sampled.text(PROMPT, TOKENIZER, List.of(), loop)))
        .isEqualTo(new Verdict.Scored(0.125, "", "0.1250 in 2 of 3 turns"));
  }

  @Test
  void isOpen_tagBeforeTheLastSpecialToken_isNoThought() {
    CharacterTokenizer tokenizer = new CharacterTokenizer("<think>\na");
    int[] opened = tokenizer.encode("\n<think>a");
    int[] ended = Arrays.copyOf(opened, opened.length + 2);
    ended[opened.length] = tokenizer.endOfSequence();
    ended[opened.length + 1] = opened[opened.length - 1];

    assertThat(ThoughtAtEnd.isOpen(opened, tokenizer)).isTrue();
    assertThat(ThoughtAtEnd.isOpen(ended, tokenizer)).isFalse();
  }

  @Test
  void sample_everyLimit_isAStopReason() {
    Function<String, String> always = _ -> "[calc 2*3]";
    assertThat(stop(always, loop(2, 9, false))).isEqualTo(StopReason.MAX_TURNS);
    assertThat(stop(always, loop(9, 2, false))).isEqualTo(StopReason.MAX_TOOL_CALLS);
    assertThat(sampled(always, loop(9, 9, false), 20).getFirst().stop())
        .isEqualTo(StopReason.CONTEXT_OVERFLOW);
    assertThat(stop(_ -> "[]", loop(9, 9, true))).isEqualTo(StopReason.PARSE_ERROR);
    assertThat(stop(text -> text.endsWith("error;") ? "6" : "[]", loop(9, 9, false)))
        .isEqualTo(StopReason.COMPLETED);
    assertThat(stop(text -> text.endsWith("error;") ? "6" : "[oracle 1]", loop(9, 9, false)))
        .isEqualTo(StopReason.COMPLETED);
  }

  @Test
  void sample_whileAToolRuns_theTurnIsHeldByIt() {
    List<HeldTurns.HeldTurn> seen = new CopyOnWriteArrayList<>();
    CyclicBarrier both = new CyclicBarrier(2);
    EpisodeSettings.ToolLoop looking =
        loop(
            _ -> {
              met(both);
              seen.addAll(HeldTurns.ofThisProcess());
              met(both);
              return ToolResult.of("6");
            },
            4,
            4,
            Duration.ofSeconds(20),
            false);
    sampled(text -> text.endsWith("6;") ? "6" : "[calc 2*3]", looking, 64);
    assertThat(seen)
        .hasSize(2)
        .allSatisfy(
            held -> {
              assertThat(held.on()).isEqualTo("tool calc");
              assertThat(held.turns()).isEqualTo(2);
              assertThat(held.who()).matches("g3 episode [12]");
            });
    assertThat(HeldTurns.ofThisProcess()).isEmpty();
  }

  private static void met(CyclicBarrier barrier) {
    try {
      barrier.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException failure) {
      throw new IllegalStateException(failure);
    }
  }

  @Test
  void sample_toolThatHangs_endsTheEpisodeNotTheGroup() {
    CountDownLatch never = new CountDownLatch(1);
    EpisodeSettings.ToolLoop hanging =
        loop(
            _ -> {
              try {
                never.await();
              } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
              }
              return ToolResult.of("");
            },
            4,
            4,
            Duration.ofMillis(5),
            false);
    Episode episode = sampled(_ -> "[calc 2*3]", hanging, 64).getFirst();
    never.countDown();
    assertThat(episode.stop()).isEqualTo(StopReason.TIMEOUT);
    assertThat(episode.turns().getFirst().tools())
        .extracting(ToolRun::outcome)
        .containsExactly(ToolRun.Outcome.TIMED_OUT);
  }

  @Test
  void sample_environmentThatFails_isNoEpisode() {
    EpisodeSettings.ToolLoop failing =
        loop(
            _ -> {
              throw new EnvironmentFailedException("the disk is full");
            },
            4,
            4,
            Duration.ofSeconds(20),
            false);
    assertThatThrownBy(() -> sampled(_ -> "[calc 2*3]", failing, 64))
        .isInstanceOf(CompletionException.class)
        .hasRootCauseInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("environment test failed in turn 1 in tool calc: the disk is full");
  }
}
