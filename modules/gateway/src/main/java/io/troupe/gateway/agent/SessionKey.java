package io.troupe.gateway.agent;

import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SamplingSettings;
import io.troupe.gateway.GatewaySession;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The name and the secret of one episode's session.
 *
 * @param id of the episode, in the path of its URL
 * @param secret 128 random bits, unknown to other episodes
 */
record SessionKey(String id, String secret) {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int BYTES = 16;
  private static final int NAME_BITS = 32;

  /** A key for an episode of a group. */
  static SessionKey create(LeaseId lease, int index) {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    // Workers and evaluations may share a gateway, and a task may be given to a second agent.
    long name = RANDOM.nextLong(1L << NAME_BITS);
    return new SessionKey(
        "g%d-%d-%d-%08x".formatted(lease.group().number(), lease.fence(), index, name),
        HexFormat.of().formatHex(bytes));
  }

  /** The session that the key opens. */
  GatewaySession session(
      LeaseId lease,
      GatewaySession.Rules rules,
      SamplingSettings settings,
      GatewaySession.Policy policy) {
    return GatewaySession.of(id, secret, lease, rules, settings, policy);
  }
}
