package io.troupe.gateway.dialog;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.OpenEpisode;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.ToolRun;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The samples of the policy for an agent, and the way from the agent's messages back to them.
 *
 * <p>A request whose conversation begins with that of a former turn and the turn's answer,
 * unchanged in text and calls, is recognised: the policy is asked with the ids of the former
 * request, the ids that it sampled, and the ids of the new messages. So the sampled ids are kept,
 * and no text is encoded in their place. Any other request is encoded as a whole; the messages in
 * it that look like the policy's own are then observed, not trained on.
 *
 * @param episode the turns and their sequences
 * @param turns in the order in which they were recorded
 * @param extended ordinals of turns that a later one was recognised to follow
 */
public record SessionBook(OpenEpisode episode, List<SampledTurn> turns, Set<Integer> extended) {
  /**
   * A turn, and by what it is recognised.
   *
   * @param asked digest of the request's conversation
   * @param answered digest of the same with the answer
   * @param request all ids that the policy was asked with
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  public record SampledTurn(
      int ordinal,
      String asked,
      String answered,
      int[] request,
      Completion completion,
      TurnReply.ParsedAnswer answer,
      long endMillis) {
    /** A turn whose calls get ids, by the ordinal. */
    static SampledTurn of(
        int ordinal,
        String asked,
        int[] request,
        Completion completion,
        TurnReply.ParsedAnswer answer,
        long endMillis) {
      TurnReply.ParsedAnswer named = named(answer, ordinal);
      String answered = MessageChain.after(asked, named.message());
      return new SampledTurn(ordinal, asked, answered, request, completion, named, endMillis);
    }

    private static TurnReply.ParsedAnswer named(TurnReply.ParsedAnswer answer, int ordinal) {
      List<ChatCall> calls = new ArrayList<>();
      for (ChatCall call : answer.calls()) {
        String id = "call_t%d_%d".formatted(ordinal, calls.size());
        calls.add(new ChatCall(id, call.name(), call.arguments()));
      }
      return new TurnReply.ParsedAnswer(answer.reasoning(), answer.content(), calls);
    }
  }

  /** A turn that a request continues, and the messages that it adds. */
  public record Recognised(SampledTurn turn, List<ChatMessage> added) {
    public Recognised {
      added = List.copyOf(added);
    }

    /**
     * Finds the turn with the longest conversation that a request continues.
     *
     * @param turns by the digest of their conversation with the answer
     */
    static Optional<Recognised> of(
        TurnRequest request, MessageChain chain, Function<String, Optional<SampledTurn>> turns) {
      for (int end = request.messages().size(); end > 0; end--) {
        if (request.messages().get(end - 1).role() == ChatMessage.Role.ASSISTANT) {
          Optional<SampledTurn> turn = turns.apply(chain.digests().get(end));
          if (turn.isPresent()) {
            List<ChatMessage> added = request.messages().subList(end, request.messages().size());
            return Optional.of(new Recognised(turn.get(), added));
          }
        }
      }
      return Optional.empty();
    }
  }

  /** The outcome of a turn. */
  public sealed interface Outcome {}

  /** The turn is in the book. */
  public record Kept(SessionBook book, TurnReply.ParsedAnswer answer, int ordinal)
      implements Outcome {}

  /** The episode has ended, and takes no turn. */
  public record Late(String reason) implements Outcome {}

  public SessionBook {
    turns = List.copyOf(turns);
    extended = Set.copyOf(extended);
  }

  /** A book without a turn. */
  public static SessionBook of(OpenEpisode episode) {
    return new SessionBook(episode, List.of(), Set.of());
  }

  /** Finds the turn with the longest conversation that a request continues; the newest of them. */
  public Optional<Recognised> recognise(TurnRequest request, MessageChain chain) {
    return Recognised.of(
        request,
        chain,
        digest ->
            turns.reversed().stream().filter(turn -> turn.answered().equals(digest)).findFirst());
  }

  /** With the results that a request brings of the calls of the turn that it continues. */
  public SessionBook withResults(Recognised recognised, long nowMillis) {
    SampledTurn turn = recognised.turn();
    Set<Integer> more = new HashSet<>(extended);
    if (!more.add(turn.ordinal())) {
      return this;
    }
    List<ToolRun> runs = new ArrayList<>();
    for (ChatMessage message : recognised.added()) {
      for (ChatCall call : turn.answer().calls()) {
        if (message.role() == ChatMessage.Role.TOOL && call.id().equals(message.callId())) {
          runs.add(
              new ToolRun(
                  call.id(),
                  call.name(),
                  ToolRun.Outcome.RAN,
                  message.failed() ? 1 : 0,
                  turn.endMillis(),
                  Math.max(0, nowMillis - turn.endMillis()),
                  call.arguments().getBytes(StandardCharsets.UTF_8).length,
                  message.content().getBytes(StandardCharsets.UTF_8).length));
        }
      }
    }
    return new SessionBook(episode.withTools(turn.ordinal(), runs), turns, more);
  }

  /**
   * Records a turn.
   *
   * @param asked digest of the conversation that the policy was asked with
   * @param answer answer whose calls have no ids yet
   */
  public Outcome record(OpenEpisode.Answered sampled, String asked, TurnReply.ParsedAnswer answer) {
    return switch (episode.record(episode.lease(), sampled)) {
      case OpenEpisode.Refused(String reason) -> new Late(reason);
      case OpenEpisode.Recorded(OpenEpisode next, int ordinal, boolean _) -> {
        SampledTurn turn =
            SampledTurn.of(
                ordinal,
                asked,
                sampled.request(),
                sampled.completion(),
                answer,
                sampled.endMillis());
        List<SampledTurn> more = new ArrayList<>(turns);
        more.add(turn);
        yield new Kept(new SessionBook(next, more, extended), turn.answer(), ordinal);
      }
    };
  }

  /** Calls of tools that the policy has sampled. */
  public int calls() {
    return turns.stream().mapToInt(turn -> turn.answer().calls().size()).sum();
  }

  /** Returns this book, which refuses further turns. */
  public SessionBook end() {
    return new SessionBook(episode.end(), turns, extended);
  }

  /**
   * The episode as it is trained. Where one conversation was answered several times, the answers
   * that no request followed have no loss weight, unless none was followed: then the last counts.
   *
   * @param lost ordinals of turns whose answer never reached the agent
   * @throws IllegalArgumentException if it has no turn
   */
  public Episode stopped(StopReason stop, Set<Integer> lost) {
    OpenEpisode kept = episode;
    for (SampledTurn turn : turns) {
      boolean superseded =
          turns.stream()
              .anyMatch(
                  other ->
                      other.asked().equals(turn.asked())
                          && other.ordinal() != turn.ordinal()
                          && (extended.contains(other.ordinal())
                              || other.ordinal() > turn.ordinal()));
      boolean unseen = lost.contains(turn.ordinal()) && turns.size() > lost.size();
      if (!extended.contains(turn.ordinal()) && (superseded || unseen)) {
        kept = kept.abandon(turn.ordinal());
      }
    }
    return kept.stopped(stop);
  }
}
