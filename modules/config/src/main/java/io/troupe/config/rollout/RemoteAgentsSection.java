package io.troupe.config.rollout;

import io.troupe.base.net.HostPort;
import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.time.Duration;
import java.util.Optional;

/** Agents that run on any host, and ask for their tasks over HTTP. */
public record RemoteAgentsSection(
    @Doc(
            "Address HOST:PORT at which they ask; empty means that there are none. Each process of a"
                + " run takes the first free port from this one on.")
        @Default("")
        String listen,
    @Doc("File of mode 0600 with the key that they ask with, of 16 characters or more.")
        @Default("")
        String keyFile,
    @Doc(
            "Folder with this host's keys, as `troupe certs issue` makes it, to answer HTTPS; empty"
                + " means HTTP.")
        @Default("")
        String tls,
    @Doc(
            "Whether HTTP may be answered beyond the loopback interface: whoever can listen in that"
                + " network sees the keys.")
        @Default("false")
        boolean allowPlainHttp,
    @Doc(
            "An agent that neither asks the policy nor gives another sign of life for so long is"
                + " gone, and its work lost.")
        @Default("30s")
        @Range(min = 0.1)
        Duration silence)
    implements Validated {
  /** Whether agents ask for tasks. */
  public boolean isUsed() {
    return !listen.isEmpty();
  }

  /** Returns the address at which agents ask for a policy. */
  public HostPort address() {
    return HostPort.parse(listen);
  }

  @Override
  public void check(RuleChecker rules) {
    if (!isUsed()) {
      return;
    }
    Optional<HostPort> address = HostPort.read(listen);
    rules.on("listen").require(address::isPresent, "is no HOST:PORT", "write 127.0.0.1:7600");
    rules
        .on("key_file", "listen")
        .require(
            () -> !keyFile.isEmpty(),
            "is empty, and agents that ask over HTTP need a key",
            "make one with: (umask 077; openssl rand -hex 32 > FILE)");
    rules
        .on("tls", "listen", "allow_plain_http")
        .require(
            () ->
                address.filter(at -> !at.loopback()).isEmpty() || !tls.isEmpty() || allowPlainHttp,
            "is empty, and episode.agent.remote.listen can be reached from other hosts",
            "make keys with `troupe certs`, or set allow_plain_http: true in a network that nobody"
                + " else is in");
  }
}
