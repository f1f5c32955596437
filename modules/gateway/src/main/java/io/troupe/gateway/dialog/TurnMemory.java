package io.troupe.gateway.dialog;

import io.troupe.core.completion.Completion;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The newest answers of a server that many agents ask, by the conversations that they end. A
 * request that continues one of them is asked with the ids that were sampled, as in an episode; one
 * that continues a forgotten answer is encoded as a whole.
 */
public final class TurnMemory {
  private final long mostTokens;
  private final Map<String, SessionBook.SampledTurn> turns = // guarded by this, as all below
      new LinkedHashMap<>(16, 0.75f, true);
  private long tokens;
  private int ordinals;

  /**
   * A memory without a turn.
   *
   * @param mostTokens of the requests and answers that are kept, together; each takes 4 bytes
   */
  public TurnMemory(long mostTokens) {
    this.mostTokens = mostTokens;
  }

  /** Finds the turn with the longest conversation that a request continues. */
  public synchronized Optional<SessionBook.Recognised> recognise(
      TurnRequest request, MessageChain chain) {
    return SessionBook.Recognised.of(
        request, chain, digest -> Optional.ofNullable(turns.get(digest)));
  }

  /**
   * Keeps a turn, and forgets those that were not continued for longest.
   *
   * @param asked digest of the conversation that the policy was asked with
   * @param request all ids of the conversation
   * @param answer answer whose calls have no ids yet
   */
  public synchronized SessionBook.SampledTurn keep(
      String asked, int[] request, Completion completion, TurnReply.ParsedAnswer answer) {
    SessionBook.SampledTurn turn =
        SessionBook.SampledTurn.of(ordinals++, asked, request, completion, answer, 0);
    SessionBook.SampledTurn former = turns.put(turn.answered(), turn);
    tokens += size(turn) - (former == null ? 0 : size(former));
    while (tokens > mostTokens) {
      Iterator<SessionBook.SampledTurn> oldest = turns.values().iterator();
      tokens -= size(oldest.next());
      oldest.remove();
    }
    return turn;
  }

  private static long size(SessionBook.SampledTurn turn) {
    return (long) turn.request().length + turn.completion().length();
  }
}
