package io.troupe.runtime.episode;

import io.troupe.core.SplitMix64;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.OpenEpisode;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.ToolRun;
import io.troupe.core.rollout.Turn;
import io.troupe.engine.RequestRefusedException;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.HeldTurns;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.format.ParsedToolCalls;
import io.troupe.environments.format.ThoughtSplit;
import io.troupe.gateway.dialog.Observation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One episode with tools, from its first answer to its end, on the thread that runs it. */
final class ToolEpisode {
  /** The parts that an episode works with. */
  record Wiring(
      SamplingEngine engine,
      Tokenizer tokenizer,
      int contextLength,
      EpisodeSettings.ToolLoop loop,
      EnvironmentPool environments,
      HeldTurns held) {}

  /** The step after an answer: the end, or the next request. */
  private sealed interface Next {
    record End(StopReason stop) implements Next {}

    @SuppressWarnings("ArrayRecordComponent") // carried, never compared
    record Ask(int[] request) implements Next {}
  }

  /** The keys that the turns of one group have at an engine, one an episode. */
  private static final int KEY_BITS = 20;

  private final Wiring wiring;
  private final SampleRequest first;
  private final Prompt prompt;
  private final int index;
  private final LeaseId key;
  private final List<ToolRun> runs = new ArrayList<>();
  private final List<Double> rewards = new ArrayList<>();
  private final CompletableFuture<Environment> environment = new CompletableFuture<>();
  private volatile boolean cancelled;
  private int calls;
  private double reward;

  /**
   * An episode of a group.
   *
   * @param first the request of the group's first turn
   * @param index of the episode in its group
   */
  ToolEpisode(Wiring wiring, SampleRequest first, Prompt prompt, int index) {
    this.wiring = wiring;
    this.first = first;
    this.prompt = prompt;
    this.index = index;
    LeaseId lease = first.lease();
    this.key = new LeaseId(lease.group(), lease.fence() << KEY_BITS | index);
  }

  /** A clock for times of turns and tools. */
  static long millis() {
    return System.nanoTime() / 1_000_000;
  }

  /** Ends the episode soon, from any thread. */
  void cancel() {
    cancelled = true;
    wiring.engine.cancel(key);
    var _ = environment.thenAccept(Environment::close);
  }

  /**
   * Runs to the end, blocking.
   *
   * @param answer the first one
   * @param startMillis time of the request
   */
  SampledEpisode run(Completion answer, long startMillis) {
    try (Environment world = opened()) {
      OpenEpisode open = OpenEpisode.under(first.lease());
      int[] request = first.prompt();
      Completion completion = answer;
      long start = startMillis;
      while (true) {
        OpenEpisode recorded = recorded(open, request, completion, start);
        runs.clear();
        reward = 0;
        Next next = after(world, request, completion, recorded.turns());
        open = recorded.withTools(recorded.turns() - 1, runs);
        rewards.add(reward);
        switch (next) {
          case Next.End(StopReason stop) -> {
            return new SampledEpisode(open.stopped(stop), world.submission(), rewards);
          }
          case Next.Ask(int[] extended) -> {
            start = millis();
            completion = ask(extended, open.turns());
            request = extended;
          }
        }
      }
    }
  }

  private Environment opened() {
    try (HeldTurns.Hold _ = held("environment " + wiring.loop.provider().name())) {
      Environment world = wiring.environments.newEnvironment();
      environment.complete(world);
      try {
        world.reset(prompt, seed(0));
      } catch (RuntimeException | Error failure) {
        world.close();
        throw failure;
      }
      return world;
    }
  }

  private HeldTurns.Hold held(String on) {
    return wiring.held.hold(first.lease(), index, on);
  }

  private OpenEpisode recorded(
      OpenEpisode open, int[] request, Completion completion, long startMillis) {
    OpenEpisode.Answered answered =
        new OpenEpisode.Answered(Turn.MAIN, request, completion, startMillis, millis());
    return switch (open.record(first.lease(), answered)) {
      case OpenEpisode.Recorded(OpenEpisode episode, int _, boolean _) -> episode;
      case OpenEpisode.Refused(String reason) -> throw new IllegalStateException(reason);
    };
  }

  private Next after(Environment world, int[] request, Completion completion, int turns) {
    if (completion.finishReason() == FinishReason.LENGTH) {
      return new Next.End(StopReason.MAX_TOKENS);
    }
    ParsedToolCalls parsed = wiring.loop.format().parse(said(request, completion));
    if (parsed.calls().isEmpty()) {
      return new Next.End(StopReason.COMPLETED);
    }
    boolean malformed =
        parsed.calls().stream().anyMatch(call -> call.status() != ToolCall.Status.OK);
    if (malformed && wiring.loop.endsOnParseError()) {
      return new Next.End(StopReason.PARSE_ERROR);
    }
    if (turns >= wiring.loop.maxTurns()) {
      return new Next.End(StopReason.MAX_TURNS);
    }
    List<String> results = new ArrayList<>();
    for (ToolCall call : parsed.calls()) {
      if (calls++ >= wiring.loop.maxToolCalls()) {
        return new Next.End(StopReason.MAX_TOOL_CALLS);
      }
      ToolResult result =
          carriedOut(world, call, "call_%d_%d".formatted(turns - 1, results.size()));
      if (result.done()) {
        return new Next.End(StopReason.TOOL);
      }
      if (result.outcome() == ToolRun.Outcome.TIMED_OUT) {
        return new Next.End(StopReason.TIMEOUT);
      }
      results.add(result.text());
    }
    int[] extended = extended(request, completion, results);
    return extended.length < wiring.contextLength
        ? new Next.Ask(extended)
        : new Next.End(StopReason.CONTEXT_OVERFLOW);
  }

  private ToolResult carriedOut(Environment world, ToolCall call, String id) {
    long start = millis();
    ToolResult result = result(world, call);
    reward += result.reward();
    if (!Double.isFinite(reward)) {
      throw failed(call, "the rewards of the turn's calls add up to " + reward);
    }
    runs.add(
        new ToolRun(
            id,
            call.name(),
            result.outcome(),
            result.exit(),
            start,
            millis() - start,
            call.arguments().getBytes(StandardCharsets.UTF_8).length,
            result.text().getBytes(StandardCharsets.UTF_8).length));
    return result;
  }

  private ToolResult result(Environment world, ToolCall call) {
    if (call.status() != ToolCall.Status.OK) {
      return new ToolResult("error", 1, ToolRun.Outcome.MALFORMED, false);
    }
    List<String> names = wiring.loop.provider().tools().stream().map(ToolSchema::name).toList();
    if (!names.contains(call.name())) {
      return new ToolResult("error", 1, ToolRun.Outcome.UNKNOWN_TOOL, false);
    }
    CompletableFuture<ToolResult> step = new CompletableFuture<>();
    try (HeldTurns.Hold _ = held("tool " + call.name())) {
      Thread.ofVirtual()
          .name("tool " + call.name())
          .start(
              () -> {
                try {
                  step.complete(world.step(call));
                } catch (RuntimeException | Error failure) {
                  step.completeExceptionally(failure);
                }
              });
      return step.get(wiring.loop.toolTimeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException slow) {
      try {
        return world.overdue(call);
      } finally {
        world.close();
      }
    } catch (ExecutionException failure) {
      Throwable cause = Objects.requireNonNullElse(failure.getCause(), failure);
      EnvironmentFailedException failed = failed(call, String.valueOf(cause.getMessage()));
      failed.initCause(cause);
      throw failed;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new CancellationException(first.lease() + " was cancelled");
    }
  }

  private EnvironmentFailedException failed(ToolCall call, String reason) {
    return new EnvironmentFailedException(
        "environment %s failed in turn %d in tool %s: %s"
            .formatted(wiring.loop.provider().name(), rewards.size() + 1, call.name(), reason));
  }

  private int[] extended(int[] request, Completion completion, List<String> results) {
    try {
      return joined(
          joined(request, completion.tokens()),
          Observation.ids(wiring.tokenizer, wiring.loop.format(), results, completion));
    } catch (IllegalArgumentException unreadable) {
      throw new RequestRefusedException(
          "the policy cannot be shown a tool's result: " + unreadable.getMessage());
    }
  }

  /** Returns what an answer says behind its thought, which the request may have begun. */
  private String said(int[] request, Completion completion) {
    boolean thinksFirst = ThoughtAtEnd.isOpen(request, wiring.tokenizer);
    return ThoughtSplit.of(wiring.tokenizer.decode(completion.tokens()), thinksFirst).rest();
  }

  private static int[] joined(int[] ids, int[] more) {
    int[] both = Arrays.copyOf(ids, ids.length + more.length);
    System.arraycopy(more, 0, both, ids.length, more.length);
    return both;
  }

  private Completion ask(int[] request, int turn) {
    if (cancelled) {
      throw new CancellationException(first.lease() + " was cancelled");
    }
    SampleRequest next = new SampleRequest(key, request, 1, first.settings(), seed(turn));
    try {
      return wiring.engine.sample(List.of(next)).getFirst().toCompletableFuture().join().getFirst();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof RuntimeException cause ? cause : failure;
    }
  }

  /** Returns the seed of a turn of this episode. */
  private long seed(int turn) {
    return SplitMix64.mix(SplitMix64.mix(first.seed() + index) + turn);
  }
}
