package io.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.completion.Completion;
import io.troupe.gateway.RefusedTurnException;
import io.troupe.gateway.TurnCodec;
import io.troupe.gateway.TurnExchange;
import io.troupe.gateway.dialog.MessageChain;
import io.troupe.gateway.dialog.SessionBook;
import io.troupe.gateway.dialog.TurnMemory;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.fields.RequestReader;
import io.troupe.serve.completion.AskedTurn;
import io.troupe.serve.model.ServedModel;

/**
 * Conversations of a server, whichever route asks: a request that continues an answer is asked with
 * the ids that were sampled, and any other as the chat template shows it.
 */
final class ServedTurns {
  /** Some 64 MiB of ids. */
  private static final long MOST_TOKENS = 1L << 24;

  private final ServedModel served;
  private final TurnMemory memory = new TurnMemory(MOST_TOKENS);

  ServedTurns(ServedModel served) {
    this.served = served;
  }

  /** The codec of all conversations. */
  TurnCodec codec() {
    return served.codec();
  }

  /**
   * Reads a conversation.
   *
   * @throws RefusedTurnException if it is none, or asks for something that is not offered
   */
  AskedTurn ask(TurnExchange exchange, JsonNode body, RequestReader reader)
      throws RefusedTurnException {
    TurnRequest turn = exchange.read(body, reader);
    MessageChain chain = MessageChain.of(turn);
    return new AskedTurn(turn, chain, codec().encode(turn, memory.recognise(turn, chain)));
  }

  /** Keeps an answer, so that it is found when it comes back. */
  SessionBook.SampledTurn keep(AskedTurn asked, Completion completion) {
    return memory.keep(
        asked.chain().whole(),
        asked.ids(),
        completion,
        codec().decode(completion, asked.request()));
  }
}
