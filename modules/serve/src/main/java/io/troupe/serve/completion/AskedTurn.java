package io.troupe.serve.completion;

import io.troupe.gateway.dialog.MessageChain;
import io.troupe.gateway.dialog.TurnRequest;

/**
 * A conversation and the ids that the policy is asked with.
 *
 * @param chain by which the conversation is found again
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record AskedTurn(TurnRequest request, MessageChain chain, int[] ids) {}
