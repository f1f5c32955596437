package io.troupe.app;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.HostPort;
import io.troupe.cluster.WeightsPlace;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.tls.HostKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of every command whose process talks to a cluster. */
final class ClusterOptions {
  @Option(
      names = "--address",
      paramLabel = "HOST",
      defaultValue = "127.0.0.1",
      description = "Name or address of this host, as the others reach it (${DEFAULT-VALUE}).")
  private String address = "127.0.0.1";

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "0",
      description = "Port to listen on; 0 takes a free one (${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--seed",
      paramLabel = "HOST:PORT",
      split = ",",
      description = "A head or node that is there already; may be given many times.")
  private List<String> seeds = new ArrayList<>();

  @Option(
      names = "--allow-plain-tcp",
      description = "Listen beyond the loopback interface without TLS.")
  private boolean plainAllowed;

  @Option(
      names = "--tls",
      paramLabel = "DIR",
      description = "Keys of this host, as `troupe certs issue` makes them; overrides cluster.tls.")
  private @Nullable Path keys;

  @Option(
      names = "--weights-port",
      paramLabel = "N",
      defaultValue = "0",
      description = "Port of this host's weight server; 0 takes a free one (${DEFAULT-VALUE}).")
  private int weightsPort;

  HostPort address() {
    return new HostPort(address, port);
  }

  List<HostPort> seeds() {
    return seeds.stream().map(HostPort::parse).toList();
  }

  /**
   * Settings of this process.
   *
   * @param configured {@code cluster.tls}; "" if there is none
   * @param say takes what should be done soon
   * @throws IOException if the keys cannot be read or do not fit the address, or if there are none
   *     where they are needed
   */
  ClusterSettings settings(
      ClusterSettings.Role role, int frameBytes, String configured, Consumer<String> say)
      throws IOException {
    if (keys == null && !configured.isEmpty()) {
      keys = Path.of(configured);
    }
    Config transport = keys == null ? ConfigFactory.empty() : transport(keys, say);
    Optional<String> objection =
        ClusterSettings.objection(address(), !transport.isEmpty(), plainAllowed);
    if (objection.isPresent()) {
      throw new IOException(objection.get());
    }
    return new ClusterSettings(address(), Set.of(role), frameBytes, transport, plainAllowed);
  }

  /** Where this process serves weights, and how; to be asked after {@link #settings}. */
  WeightsPlace weights() throws IOException {
    return new WeightsPlace(
        new HostPort(address, weightsPort),
        Endpoint.of(
            keys == null
                ? Optional.empty()
                : Optional.of(HostKeys.in(keys.toAbsolutePath()).context()),
            plainAllowed));
  }

  private Config transport(Path folder, Consumer<String> say) throws IOException {
    HostKeys known = HostKeys.in(folder.toAbsolutePath());
    Instant now = Instant.now();
    Optional<String> objection = known.objection(address, now);
    if (objection.isPresent()) {
      throw new IOException(objection.get());
    }
    known.warning(now).ifPresent(say);
    return known.transport();
  }

  /** The same for a process started by this one, whose address is known by now. */
  List<String> forChild(HostPort self) {
    List<String> options = new ArrayList<>(List.of("--address", address));
    options.addAll(List.of("--seed", self.toString()));
    seeds.forEach(seed -> options.addAll(List.of("--seed", seed)));
    if (keys != null) {
      options.addAll(List.of("--tls", keys.toAbsolutePath().toString()));
    }
    if (plainAllowed) {
      options.add("--allow-plain-tcp");
    }
    return options;
  }
}
