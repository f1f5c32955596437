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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options of every command whose process talks to a cluster. */
public final class ClusterOptions {
  private static final String LOOPBACK = "127.0.0.1";

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec spec;

  @Option(
      names = "--address",
      paramLabel = "HOST",
      defaultValue = LOOPBACK,
      description = "Name or address of this host, as the others reach it (${DEFAULT-VALUE}).")
  private String address = LOOPBACK;

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
      description = "A coordinator or node that is there already; may be given many times.")
  private List<String> seeds = new ArrayList<>();

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
      defaultValue = "0",
      description = "Port of this host's weight server; 0 takes a free one (${DEFAULT-VALUE}).")
  private int weightsPort;

  @Option(
      names = "--ranks-port",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Port of trainer ranks on nodes: a coordinator hears them there, and those of a node"
              + " listen there and at the next ones; 0 takes free ones (${DEFAULT-VALUE}).")
  private int ranksPort;

  public HostPort address() {
    return new HostPort(address, port);
  }

  public List<HostPort> seeds() {
    return seeds.stream().map(HostPort::parse).toList();
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

  /** Where this process serves weights, and how; to be asked after {@link #settings}. */
  public ListenAddress weights() throws IOException {
    return new ListenAddress(
        new HostPort(address, weightsPort),
        ConnectionFactory.of(
            keys == null
                ? Optional.empty()
                : Optional.of(HostKeys.in(keys.toAbsolutePath()).context()),
            plainAllowed));
  }

  /**
   * Where trainer ranks are heard by this process, or hear each other; and how. To be asked after
   * {@link #settings}.
   */
  public ListenAddress ranks() throws IOException {
    return weights().withAddress(new HostPort(address, ranksPort));
  }

  /** Where this user's programs keep what they need again. */
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

  /**
   * Of a coordinator on this host that is started by hand, without seeds; what is the default is
   * left.
   */
  public List<String> forCoordinator() {
    List<String> options = new ArrayList<>(List.of("--cluster"));
    if (!address.equals(LOOPBACK)) {
      options.addAll(List.of("--address", address));
    }
    addPort(options, "--port", port);
    addPort(options, "--weights-port", weightsPort);
    addPort(options, "--ranks-port", ranksPort);
    addSecurity(options);
    return options;
  }

  private static void addPort(List<String> options, String name, int number) {
    if (number > 0) {
      options.addAll(List.of(name, Integer.toString(number)));
    }
  }

  private void addSecurity(List<String> options) {
    if (keys != null) {
      options.addAll(List.of("--tls", keys.toAbsolutePath().toString()));
    }
    if (plainAllowed) {
      options.add("--allow-plain-tcp");
    }
  }

  /** Returns the options for a child process; the address of this process is known. */
  public List<String> forChild(HostPort self) {
    List<String> options = new ArrayList<>(List.of("--address", address));
    options.addAll(List.of("--seed", self.toString()));
    seeds.forEach(seed -> options.addAll(List.of("--seed", seed)));
    addSecurity(options);
    return options;
  }
}
