package io.troupe.gateway;

import io.troupe.base.failure.Causes;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.OpenEpisode;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.Turn;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.TokenListener;
import io.troupe.gateway.dialog.MessageChain;
import io.troupe.gateway.dialog.SessionBook;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.wire.AgentDialect.Refusal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One episode of an agent: what its key opens, until the episode has ended.
 *
 * <p>A turn is in the session's book before the end of its answer leaves, so that no agent acts on
 * an answer that is not trained on. What an engine fails at ends the session as a failure, which is
 * lost work.
 */
public final class GatewaySession {
  /** The code of a turn whose engine has failed, which ends the session. */
  static final String ENGINE_FAILED = "engine_failed";

  /** The sampler of a session. */
  public interface Policy {
    /**
     * Samples one answer.
     *
     * @param number of the request in the session, from 0
     * @param listener of the answer's tokens
     */
    CompletionStage<Completion> sample(
        int[] request, SamplingSettings settings, int number, TokenListener listener);

    /** Stops all sampling for the session. */
    void cancel();
  }

  /** The rules for all sessions of a run. */
  public record Rules(TurnCodec codec, int maxTurns, int maxToolCalls) {}

  /**
   * The proof that a request is a retry.
   *
   * @param repeated whether the client says that it has sent the request before
   * @param key of the client's own for a request and its retries; empty if there is none
   */
  record RetryProof(boolean repeated, String key) {}

  private final String id;
  private final byte[] key;
  private final Rules rules;
  private final SamplingSettings settings;
  private final Policy policy;
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private final Map<String, PendingTurn> pending = new HashMap<>(); // guarded by this, as all below
  private final Map<Integer, PendingTurn> answered = new HashMap<>();
  private SessionBook book;
  private Optional<StopReason> limit = Optional.empty();
  private int asked;
  private int named;
  private boolean ended;
  private int openRequests;
  private long lastSignMillis = millis();

  private GatewaySession(
      String id, String key, LeaseId lease, Rules rules, SamplingSettings settings, Policy policy) {
    this.id = id;
    this.key = key.getBytes(StandardCharsets.UTF_8);
    this.rules = rules;
    this.settings = settings;
    this.policy = policy;
    this.book = SessionBook.of(OpenEpisode.under(lease));
  }

  /**
   * A session without a turn.
   *
   * @param id in the path of its URL
   * @param key without which it answers nothing
   * @param settings of the sampling; requests may lower its limit and add stop texts
   */
  public static GatewaySession of(
      String id, String key, LeaseId lease, Rules rules, SamplingSettings settings, Policy policy) {
    return new GatewaySession(id, key, lease, rules, settings, policy);
  }

  /** A clock for times of turns. */
  static long millis() {
    return System.nanoTime() / 1_000_000;
  }

  String id() {
    return id;
  }

  /** Whether a key is this session's; the time does not depend on the key. */
  boolean isOpenedBy(String given) {
    return MessageDigest.isEqual(key, given.getBytes(StandardCharsets.UTF_8));
  }

  /** A request of the agent is being answered, until {@link #answered}. */
  synchronized void answering() {
    openRequests++;
  }

  synchronized void answered() {
    openRequests--;
    lastSignMillis = millis();
  }

  /** Returns the time for which the agent has had no request open; zero if it has one. */
  public synchronized Duration silence() {
    return openRequests > 0 ? Duration.ZERO : Duration.ofMillis(millis() - lastSignMillis);
  }

  /** Completes with what failed beneath the session, through no fault of the agent. */
  public CompletionStage<Throwable> failure() {
    return failure;
  }

  /** Starts a turn, or finds the one that a retry repeats. */
  PendingTurn ask(TurnRequest request, RetryProof proof) throws RefusedTurnException {
    MessageChain chain = MessageChain.of(request);
    String name = proof.key().isEmpty() ? chain.whole() : "key " + proof.key();
    PendingTurn turn;
    SessionBook former;
    int number;
    synchronized (this) {
      refuseIfEnded();
      PendingTurn last = pending.get(name);
      if (last != null && (proof.repeated() || !proof.key().isEmpty() || last.isLost())) {
        return last;
      }
      refuseBeyondLimits();
      Optional<SessionBook.Recognised> recognised = book.recognise(request, chain);
      if (recognised.isPresent()) {
        book = book.withResults(recognised.get(), millis());
      }
      turn = new PendingTurn(named++);
      pending.put(name, turn);
      former = book;
      number = asked++;
    }
    try {
      sample(turn, request, chain, former, number);
    } catch (RefusedTurnException refused) {
      synchronized (this) {
        pending.remove(name, turn);
        asked--;
      }
      throw refused;
    }
    return turn;
  }

  /** A turn as it is sent. */
  TurnExchange.AwaitedReply awaited(PendingTurn turn) {
    return new TurnExchange.AwaitedReply(turn::start, rules.codec(), turn::within);
  }

  /** Counts the tokens that a turn would be asked with. */
  int count(TurnRequest request) throws RefusedTurnException {
    SessionBook now;
    synchronized (this) {
      refuseIfEnded();
      now = book;
    }
    return rules.codec().encode(request, now.recognise(request, MessageChain.of(request))).length;
  }

  private void refuseIfEnded() throws RefusedTurnException {
    if (ended) {
      throw new RefusedTurnException(409, "concluded", "episode %s has ended".formatted(id));
    }
  }

  private void refuseBeyondLimits() throws RefusedTurnException {
    if (asked >= rules.maxTurns()) {
      limit = Optional.of(StopReason.MAX_TURNS);
      throw new RefusedTurnException(
          400, "episode_over", "an episode has at most %d turns".formatted(rules.maxTurns()));
    }
    if (book.calls() > rules.maxToolCalls()) {
      limit = Optional.of(StopReason.MAX_TOOL_CALLS);
      throw new RefusedTurnException(
          400,
          "episode_over",
          "an episode calls tools at most %d times".formatted(rules.maxToolCalls()));
    }
  }

  private void sample(
      PendingTurn turn, TurnRequest request, MessageChain chain, SessionBook former, int number)
      throws RefusedTurnException {
    int[] ids = rules.codec().encode(request, former.recognise(request, chain));
    Optional<Refusal> overflow = rules.codec().overflow(ids);
    if (overflow.isPresent()) {
      synchronized (this) {
        limit = Optional.of(StopReason.CONTEXT_OVERFLOW);
      }
      throw new RefusedTurnException(overflow.get());
    }
    turn.begin(ids.length);
    long start = millis();
    var _ =
        policy
            .sample(
                ids,
                settings.within(request.maxTokens(), rules.codec().stops(request)),
                number,
                request.stream() ? (_, token, _, _) -> turn.add(token) : TokenListener.NONE)
            .whenComplete(
                (completion, failed) -> {
                  if (failed == null) {
                    record(turn, request, chain, new Sampled(ids, completion, start));
                  } else {
                    failure.complete(Causes.inside(failed, List.of()));
                    turn.fail(
                        new RefusedTurnException(
                            500, ENGINE_FAILED, "the policy cannot be sampled"));
                  }
                });
  }

  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  private record Sampled(int[] request, Completion completion, long startMillis) {}

  private void record(PendingTurn turn, TurnRequest request, MessageChain chain, Sampled sampled) {
    ParsedAnswer answer = rules.codec().decode(sampled.completion(), request);
    OpenEpisode.Answered turned =
        new OpenEpisode.Answered(
            Turn.MAIN, sampled.request(), sampled.completion(), sampled.startMillis(), millis());
    SessionBook.Outcome outcome;
    synchronized (this) {
      outcome = ended ? new SessionBook.Late("") : book.record(turned, chain.whole(), answer);
      if (outcome instanceof SessionBook.Kept(SessionBook next, ParsedAnswer _, int ordinal)) {
        book = next;
        answered.put(ordinal, turn);
      }
    }
    switch (outcome) {
      case SessionBook.Kept(SessionBook _, ParsedAnswer kept, int _) ->
          turn.complete(rules.codec().reply(turn.start(), kept, request, sampled.completion()));
      case SessionBook.Late(String _) ->
          turn.fail(
              new RefusedTurnException(409, "concluded", "episode %s has ended".formatted(id)));
    }
  }

  /** Returns the number of recorded turns. */
  public synchronized int turns() {
    return book.turns().size();
  }

  /**
   * Ends the session: its key opens nothing from now on.
   *
   * @param by why, unless a limit of the episode was reached before
   * @return the episode; empty if the policy was never asked
   */
  public Optional<Episode> end(StopReason by) {
    boolean first;
    SessionBook last;
    StopReason stop;
    Set<Integer> lost = new HashSet<>();
    synchronized (this) {
      first = !ended;
      ended = true;
      book = book.end();
      last = book;
      stop = limit.orElse(by);
      answered.forEach(
          (ordinal, turn) -> {
            if (turn.isLost()) {
              lost.add(ordinal);
            }
          });
    }
    if (first) {
      policy.cancel();
    }
    return last.turns().isEmpty() ? Optional.empty() : Optional.of(last.stopped(stop, lost));
  }
}
