package io.troupe.net.tls;

import io.troupe.base.net.HostPort;
import java.util.Optional;

/** The rule for processes that listen without keys: they do so where only their own host is. */
public final class PlainTcpRule {
  private PlainTcpRule() {}

  /**
   * Returns the reason why a process may not listen at an address, if it may not. On the loopback
   * interface a process has the keys of its user, if no others.
   *
   * @param secret whether the process was given keys, so that its connections are encrypted and
   *     mutual
   */
  public static Optional<String> objection(HostPort address, boolean secret, boolean plainAllowed) {
    return address.loopback() || plainAllowed || secret
        ? Optional.empty()
        : Optional.of(
            "%s can be reached from other hosts, and plain TCP would let anybody in; set cluster.tls, or pass --allow-plain-tcp in a network that nobody else is in"
                .formatted(address));
  }
}
