package io.troupe.cli.node;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.tls.TlsTransport;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.ListenAddress;
import io.troupe.net.tls.CertificateWatch;
import io.troupe.net.tls.HostKeys;
import io.troupe.net.tls.PlainTcpRule;
import io.troupe.net.tls.UserKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The options of the address at which a process of a cluster listens, and of its peers' name for
 * it.
 */
public abstract sealed class PeerOptions permits ClusterOptions, ClusterClientOptions {
  private static final String LOOPBACK = "127.0.0.1";

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec spec;

  @Option(
      names = "--address",
      paramLabel = "HOST",
      description = "Name or address of this host, as the others reach it (${DEFAULT-VALUE}).")
  private String address = LOOPBACK;

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "Port to listen on; 0 takes a free one (${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--allow-plain-tcp",
      description =
          "Listen beyond the loopback interface without keys: every host that reaches the port may join,"
              + " and so run commands as this user.")
  private boolean plainAllowed;

  @Option(
      names = "--tls",
      paramLabel = "DIR",
      description =
          "Keys of this host, as `troupe certs issue` makes them; overrides cluster.tls. On"
              + " loopback, by default, keys of this user that are made when they are first"
              + " needed.")
  private @Nullable Path keys;

  @Option(
      names = "--weights-port",
      paramLabel = "N",
      description = "Port of this host's weight server; 0 takes a free one (${DEFAULT-VALUE}).")
  private int weightsPort;

  public HostPort address() {
    return new HostPort(address, port);
  }

  /**
   * Settings of this process.
   *
   * @param configured {@code cluster.tls}; "" if there is none
   * @param say takes what should be done soon
   * @throws IOException if the keys cannot be read or do not fit the address
   * @throws CommandLine.ParameterException if there are no keys where they are needed
   */
  public ClusterSettings settings(
      ClusterSettings.ClusterRole role, int frameBytes, String configured, Consumer<String> say)
      throws IOException {
    if (keys == null && !configured.isEmpty()) {
      keys = Path.of(configured);
    }
    Optional<String> objection = PlainTcpRule.objection(address(), keys != null, plainAllowed);
    if (objection.isPresent()) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(spec).commandLine(), objection.get());
    }
    Config transport;
    if (keys != null) {
      transport = transport(keys, say);
    } else if (address().loopback()) {
      transport = TlsTransport.ofUser(UserKeys.in(state()));
    } else {
      transport = ConfigFactory.empty();
      say.accept(
          "warning: without keys, every host that reaches %s may join, and so run commands as this user; see `troupe certs`"
              .formatted(address));
    }
    return new ClusterSettings(address(), Set.of(role), frameBytes, transport, plainAllowed);
  }

  /**
   * Returns the address and the connections of this process's weight server; call {@link #settings}
   * first.
   */
  public ListenAddress weights() throws IOException {
    return new ListenAddress(
        new HostPort(address, weightsPort),
        ConnectionFactory.of(
            keys == null
                ? Optional.empty()
                : Optional.of(HostKeys.in(keys.toAbsolutePath()).context()),
            plainAllowed()));
  }

  /** Returns the folder in which this user's programs keep their state. */
  private static Path state() throws IOException {
    String home = System.getenv().getOrDefault("HOME", System.getProperty("user.home", ""));
    return UserKeys.state(System.getenv().getOrDefault("XDG_STATE_HOME", ""), home);
  }

  private Config transport(Path folder, Consumer<String> say) throws IOException {
    HostKeys known = HostKeys.in(folder.toAbsolutePath());
    Instant now = Instant.now();
    Optional<String> objection = known.objection(address, now);
    if (objection.isPresent()) {
      throw new IOException(objection.get());
    }
    known.warning(now).ifPresent(say);
    CertificateWatch.start(known.folder(), say);
    return TlsTransport.of(known);
  }

  /** The name or address of this host. */
  String host() {
    return address;
  }

  /** Whether the process listens on loopback, as by default. */
  boolean isDefaultHost() {
    return address.equals(LOOPBACK);
  }

  /** The keys of this host, if it has any; to be asked after {@link #settings}. */
  Optional<Path> keys() {
    return Optional.ofNullable(keys);
  }

  /** Whether this process may listen beyond loopback without keys. */
  boolean plainAllowed() {
    return plainAllowed;
  }

  /** The port of the weight server; 0 for a free one. */
  int weightsPort() {
    return weightsPort;
  }
}
