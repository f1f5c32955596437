package io.troupe.gateway.dialog;

/**
 * A call of a tool, as an agent is sent it and sends it back.
 *
 * @param id minted when the call was sampled
 * @param arguments JSON; where the policy's format has JSON, exactly the sampled text
 */
public record ChatCall(String id, String name, String arguments) {}
