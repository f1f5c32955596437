package io.troupe.gateway;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.engine.IncrementalText;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.Tokenizer;
import io.troupe.gateway.dialog.Conversation;
import io.troupe.gateway.dialog.SessionBook;
import io.troupe.gateway.dialog.TurnRendering;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.Finish;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import io.troupe.gateway.wire.AgentDialect.Refusal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Encodes requests of agents for a policy, and reads what the policy samples.
 *
 * @param contextLength most tokens of a request and its answer together
 */
public record TurnCodec(Conversation conversation, Tokenizer tokenizer, int contextLength) {
  /**
   * Returns the ids that the policy is asked with.
   *
   * @param former the turn that the request continues, whose sampled ids are used again
   * @throws RefusedTurnException if the policy cannot be shown the conversation
   */
  public int[] encode(TurnRequest request, Optional<SessionBook.Recognised> former)
      throws RefusedTurnException {
    refuseUnfit(request);
    Conversation shown = conversation.answering(request);
    int[] ids;
    try {
      Optional<int[]> extended =
          former.flatMap(
              found ->
                  shown
                      .following(found.turn(), found.added())
                      .map(more -> joined(found.turn(), more)));
      ids =
          extended.isPresent() ? extended.get() : shown.whole(request.messages(), request.tools());
    } catch (IllegalArgumentException unreadable) {
      throw new RefusedTurnException(
          400, "unreadable", "the policy cannot be shown this: " + unreadable.getMessage());
    }
    if (ids.length == 0) {
      throw new RefusedTurnException(400, "empty", "the conversation has no text");
    }
    return ids;
  }

  private void refuseUnfit(TurnRequest request) throws RefusedTurnException {
    Optional<TurnRendering.Objection> unfit = conversation.objection(request);
    if (unfit.isPresent()) {
      String field = unfit.get().field();
      throw new RefusedTurnException(
          new Refusal(400, "invalid_request", field, "%s: %s".formatted(field, unfit.get().why())));
    }
  }

  private static int[] joined(SessionBook.SampledTurn turn, int[] more) {
    int[] request = turn.request();
    int[] sampled = turn.completion().tokens();
    int[] ids = Arrays.copyOf(request, request.length + sampled.length + more.length);
    System.arraycopy(sampled, 0, ids, request.length, sampled.length);
    System.arraycopy(more, 0, ids, request.length + sampled.length, more.length);
    return ids;
  }

  /** Returns why ids leave no room for an answer; empty if they do. */
  public Optional<Refusal> overflow(int[] ids) {
    return ids.length < contextLength
        ? Optional.empty()
        : Optional.of(
            new Refusal(
                400,
                Refusal.CONTEXT,
                "messages",
                "the conversation has %d tokens, and the policy's context holds %d"
                    .formatted(ids.length, contextLength)));
  }

  /** Returns the texts that end an answer: the agent's own and those of the tool format. */
  public List<String> stops(TurnRequest request) {
    List<String> stops = new ArrayList<>(ends(request));
    if (!request.tools().isEmpty()) {
      stops.addAll(conversation.stops());
    }
    return stops;
  }

  /** Returns the texts that are no part of an answer which they end. */
  private List<String> ends(TurnRequest request) {
    return Stream.concat(
            request.stops().stream(), conversation.answering(request).turnEnd().stops().stream())
        .toList();
  }

  /** Returns the ids that end an answer, beside the checkpoint's own. */
  public Set<Integer> stopIds(TurnRequest request) {
    return conversation.answering(request).turnEnd().stopIds();
  }

  /** Reads an answer. Where an agent carries out one call at a time, it is sent the first. */
  public ParsedAnswer decode(Completion completion, TurnRequest request) {
    String cut = StopMatcher.cut(text(completion), ends(request));
    ParsedAnswer answer = conversation.answering(request).parse(cut, request.tools());
    return request.parallelCalls() || answer.calls().size() < 2
        ? answer
        : new ParsedAnswer(answer.reasoning(), answer.content(), answer.calls().subList(0, 1));
  }

  /** The text of an answer while it is sampled: what no later token takes back. */
  public IncrementalText growing(TurnRequest request) {
    return new IncrementalText(tokenizer, ends(request), false);
  }

  /**
   * Reads the beginning of an answer.
   *
   * @param text as {@link #growing} gave it out
   * @return reasoning and text that the answer begins with, however it continues
   */
  public ParsedAnswer soFar(String text, TurnRequest request) {
    return conversation.answering(request).soFar(text, request.tools());
  }

  private String text(Completion completion) {
    return tokenizer.decode(completion.tokens());
  }

  /**
   * Returns an answer as an agent is sent it.
   *
   * @param answer with the ids of its calls
   */
  public TurnReply reply(
      TurnStart start, ParsedAnswer answer, TurnRequest request, Completion completion) {
    String stop =
        request.stops().stream().filter(text(completion)::contains).findFirst().orElse("");
    return new TurnReply(start, answer, finish(completion, answer), stop, completion.length());
  }

  private static Finish finish(Completion completion, ParsedAnswer answer) {
    if (completion.finishReason() == FinishReason.LENGTH) {
      return Finish.LENGTH;
    }
    return answer.calls().isEmpty() ? Finish.STOP : Finish.TOOL_CALLS;
  }
}
