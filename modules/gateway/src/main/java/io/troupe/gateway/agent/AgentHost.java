package io.troupe.gateway.agent;

import io.troupe.base.failure.Causes;
import io.troupe.core.SplitMix64;
import io.troupe.core.completion.Completion;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StopReason;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.TokenListener;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.HeldTurns;
import io.troupe.gateway.GatewayServer;
import io.troupe.gateway.GatewaySession;
import io.troupe.gateway.TurnCodec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Runs the episodes of groups as the work of agents, each with a session of its own at a gateway.
 *
 * <p>An agent that ends in any way, or is ended because it takes too long, has earned the reward of
 * what the policy answered last. One that ends without asking the policy has earned nothing: that,
 * like an agent that vanishes and a failure of the engine, is lost work.
 */
public final class AgentHost implements AutoCloseable {
  /** Requests of one process at engines differ in these bits below the fence. */
  private static final int REQUEST_BITS = 22;

  /** Agents that may vanish from a task before they asked anything, until it is lost. */
  private static final int ATTEMPTS = 3;

  /** Most characters of a command that name it. */
  private static final int NAME = 60;

  private final AgentSettings settings;
  private final SamplingEngine engine;
  private final Tokenizer tokenizer;
  private final GatewaySession.Rules rules;
  private final AgentRunner runner;
  private final HeldTurns held;
  private final AtomicLong requests = new AtomicLong();
  private final Map<LeaseId, CompletableFuture<Void>> cancelled = new ConcurrentHashMap<>();

  private AgentHost(
      AgentSettings settings,
      SamplingEngine engine,
      Tokenizer tokenizer,
      int contextLength,
      AgentRunner runner,
      HeldTurns held) {
    this.settings = settings;
    this.engine = engine;
    this.tokenizer = tokenizer;
    this.runner = runner;
    this.held = held;
    this.rules =
        new GatewaySession.Rules(
            new TurnCodec(settings.conversation(), tokenizer, contextLength),
            settings.maxTurns(),
            settings.maxToolCalls());
  }

  /**
   * Opens a gateway and starts no agent yet.
   *
   * @param engine not closed by the host
   * @param held record of turns that wait for agents
   */
  public static AgentHost open(
      AgentSettings settings,
      SamplingEngine engine,
      Tokenizer tokenizer,
      int contextLength,
      HeldTurns held) {
    return new AgentHost(settings, engine, tokenizer, contextLength, runner(settings), held);
  }

  private static AgentRunner runner(AgentSettings settings) {
    try {
      return switch (settings.source()) {
        case AgentSource.Program program -> new AgentSlots(program, GatewayServer.start());
        case AgentSource.Remote(RemoteAgents agents) -> agents.open();
      };
    } catch (IOException nowhere) {
      throw new UncheckedIOException(
          "the gateway of episode.agent cannot listen: " + nowhere.getMessage(), nowhere);
    }
  }

  /** Starts the episodes of a group. */
  public CompletionStage<List<Episode>> run(SampleRequest request, Prompt prompt) {
    CompletableFuture<Void> stop = new CompletableFuture<>();
    cancelled.put(request.lease(), stop);
    Executor threads = task -> Thread.ofVirtual().name("agent episode").start(task);
    List<CompletableFuture<Episode>> ends = new ArrayList<>();
    for (int i = 0; i < request.completions(); i++) {
      int index = i;
      ends.add(CompletableFuture.supplyAsync(() -> episode(request, prompt, index, stop), threads));
    }
    for (CompletableFuture<Episode> end : ends) {
      var _ = end.whenComplete((_, failure) -> stopOn(failure, stop));
    }
    return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
        .whenComplete((_, _) -> cancelled.remove(request.lease(), stop))
        .handle(
            (_, failure) -> {
              if (failure != null) {
                throw first(ends);
              }
              return ends.stream().map(CompletableFuture::join).toList();
            });
  }

  /** A group of which one episode is lost is lost: the others are not worth their time. */
  private static void stopOn(Throwable failure, CompletableFuture<Void> stop) {
    if (failure != null) {
      stop.complete(null);
    }
  }

  private static RuntimeException first(List<CompletableFuture<Episode>> ends) {
    List<Throwable> failures =
        ends.stream()
            .filter(CompletableFuture::isCompletedExceptionally)
            .map(each -> Causes.inside(each.exceptionNow(), List.of()))
            .toList();
    Throwable cause =
        failures.stream()
            .filter(each -> !(each instanceof CancellationException))
            .findFirst()
            .orElse(failures.getFirst());
    return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
  }

  /** Ends the agents of a lease; its stage fails. */
  public void cancel(LeaseId lease) {
    CompletableFuture<Void> stop = cancelled.get(lease);
    if (stop != null) {
      stop.complete(null);
    }
  }

  private Episode episode(
      SampleRequest group, Prompt prompt, int index, CompletableFuture<Void> stop) {
    for (int attempt = 1; ; attempt++) {
      Optional<Episode> episode = attempt(group, prompt, index, stop, attempt == ATTEMPTS);
      if (episode.isPresent()) {
        return episode.get();
      }
    }
  }

  /**
   * Has an agent work.
   *
   * @param last whether a task whose agent vanished is lost, though nothing of it was sampled
   * @return empty if another agent may have the task, under another key
   */
  private Optional<Episode> attempt(
      SampleRequest group, Prompt prompt, int index, CompletableFuture<Void> stop, boolean last) {
    SessionKey key = SessionKey.create(group.lease(), index);
    SessionPolicy policy = new SessionPolicy(group, index);
    GatewaySession session = key.session(group.lease(), rules, group.settings(), policy);
    AgentTask task = new AgentTask(prompt, text(prompt), key, settings.timeout());
    runner.server().open(session);
    HeldTurns.Hold waits = held.hold(group.lease(), index, runner.awaited());
    try {
      AgentRunner.AgentEnd end =
          runner.run(
              task,
              session,
              stop,
              () -> {
                waits.close();
                policy.noteHolder();
              });
      return switch (end) {
        case AgentRunner.Ended(StopReason reason, String output) ->
            Optional.of(
                session
                    .end(reason)
                    .orElseThrow(
                        () ->
                            new AgentFailedException(
                                "%s ended without asking the policy; its last output: %s"
                                    .formatted(agent(), output))));
        case AgentRunner.Vanished(String why) -> {
          boolean sampled = session.end(StopReason.COMPLETED).isPresent();
          if (sampled || last) {
            throw new AgentFailedException(why);
          }
          yield Optional.empty();
        }
      };
    } finally {
      waits.close();
      policy.close();
      var _ = session.end(StopReason.COMPLETED);
      runner.server().forget(session);
    }
  }

  private String text(Prompt prompt) {
    String start = tokenizer.textStart();
    String text =
        !start.isEmpty() && prompt.text().startsWith(start)
            ? prompt.text().substring(start.length())
            : prompt.text();
    return LiteralMark.removed(text);
  }

  /** The beginning of the command, to name the agent by. */
  private String program() {
    String command = String.join(" ", settings.source().name()).lines().findFirst().orElse("");
    return command.length() <= NAME ? command : command.substring(0, NAME) + "…";
  }

  private String agent() {
    return switch (settings.source()) {
      case AgentSource.Program _ -> "the agent " + program();
      case AgentSource.Remote _ -> "the remote agent";
    };
  }

  /** Samples the turns of one episode, until it is closed. */
  private final class SessionPolicy implements GatewaySession.Policy {
    private final SampleRequest group;
    private final int index;
    private final Set<LeaseId> open = ConcurrentHashMap.newKeySet();
    private Optional<HeldTurns.Hold> byAgent = Optional.empty(); // guarded by this
    private boolean ended; // guarded by this

    SessionPolicy(SampleRequest group, int index) {
      this.group = group;
      this.index = index;
    }

    /** The agent holds the next turn while it asks for none. */
    private synchronized void noteHolder() {
      boolean holds = open.isEmpty() && !ended;
      if (holds && byAgent.isEmpty()) {
        byAgent = Optional.of(held.hold(group.lease(), index, "agent " + program()));
      } else if (!holds) {
        byAgent.ifPresent(HeldTurns.Hold::close);
        byAgent = Optional.empty();
      }
    }

    void close() {
      synchronized (this) {
        ended = true;
      }
      noteHolder();
    }

    @Override
    public CompletionStage<Completion> sample(
        int[] request, SamplingSettings turn, int number, TokenListener listener) {
      long bits = requests.getAndIncrement() & ((1L << REQUEST_BITS) - 1);
      LeaseId key =
          new LeaseId(group.lease().group(), group.lease().fence() << REQUEST_BITS | bits);
      long seed = SplitMix64.mix(SplitMix64.mix(group.seed() + index) + number);
      open.add(key);
      noteHolder();
      return engine
          .sample(List.of(new SampleRequest(key, request, 1, turn, seed, listener)))
          .getFirst()
          .thenApply(List::getFirst)
          .whenComplete(
              (_, _) -> {
                open.remove(key);
                noteHolder();
              });
    }

    @Override
    public void cancel() {
      open.forEach(engine::cancel);
    }
  }

  /** Ends all agents. */
  @Override
  public void close() {
    cancelled.values().forEach(stop -> stop.complete(null));
    runner.close();
  }
}
