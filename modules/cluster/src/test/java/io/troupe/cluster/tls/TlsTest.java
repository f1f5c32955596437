package io.troupe.cluster.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import akka.actor.typed.ActorRef;
import akka.actor.typed.ActorRefResolver;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.Behavior;
import akka.actor.typed.javadsl.AskPattern;
import akka.actor.typed.javadsl.Behaviors;
import akka.cluster.typed.Cluster;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.tls.CertificateAuthority;
import io.troupe.net.tls.CertificateWatch;
import io.troupe.net.tls.HostKeys;
import io.troupe.net.tls.KeyStorePasswords;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The peers of a process of a cluster with keys: real actor systems on loopback addresses. */
final class TlsTest {
  private static final String ONE = "127.0.0.2";
  private static final String TWO = "127.0.0.3";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration REFUSAL = Duration.ofSeconds(3);

  /** Question and answer of an actor that everybody starts; the serializer knows strings. */
  private record Question(ActorRef<String> replyTo) {}

  @TempDir private static Path folder;
  private static HostKeys one;
  private static HostKeys two;
  private static HostKeys foreignKeys;

  @BeforeAll
  static void issue() throws IOException {
    CertificateAuthority ours = CertificateAuthority.init(folder.resolve("ours"), "troupe");
    one = ours.issue("one", List.of(ONE, "one.example"), 90);
    two = ours.issue("two", List.of(TWO), 10);
    foreignKeys =
        CertificateAuthority.init(folder.resolve("theirs"), "troupe")
            .issue("two", List.of(TWO), 90);
  }

  @Test
  void issue_host_makesAFolderForItsOwnerOnly() throws IOException {
    assertThat(one.addresses()).containsExactly(ONE, "one.example");
    for (String file : List.of("node.p12", "trust.p12", "password")) {
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(one.folder().resolve(file))))
          .as(file)
          .isEqualTo("rw-------");
    }
    assertThat(CertificateAuthority.open(folder.resolve("ours")).hosts())
        .contains(one.folder(), two.folder());
    assertThatThrownBy(() -> CertificateAuthority.init(folder.resolve("ours"), "troupe"))
        .hasMessageContaining("is an authority already");
    assertThatThrownBy(() -> CertificateAuthority.open(folder.resolve("nothing")))
        .hasMessageContaining("make one with: troupe certs init");
  }

  @Test
  void objection_addressOrTimeThatDoesNotFit_saysWhatToDo() throws IOException {
    Config transport = TlsTransport.of(one);
    Instant now = Instant.now();
    assertThat(one.objection(ONE, now)).isEmpty();
    assertThat(one.objection("10.0.0.9", now).orElseThrow())
        .contains("is good for 127.0.0.2, one.example", "issue it with --address 10.0.0.9");
    assertThat(one.objection(ONE, now.plus(Duration.ofDays(91))).orElseThrow())
        .contains("ended at", "troupe certs issue");
    assertThat(one.warning(now)).isEmpty();
    assertThat(CertificateWatch.warning(one.folder(), now)).isEmpty();
    assertThat(CertificateWatch.warning(one.folder(), now.plus(Duration.ofDays(61))).orElseThrow())
        .contains("ends in 28 days");
    Instant last = one.until();
    assertThat(TlsTransport.daysLeft(transport, last.minus(Duration.ofDays(3)))).hasValue(3);
    assertThat(TlsTransport.daysLeft(transport, last.plusSeconds(1))).hasValue(-1);
    assertThat(two.warning(now).orElseThrow()).contains("ends in 9 days");
  }

  @Test
  void in_keysThatOthersCanRead_isRefused() throws IOException {
    HostKeys open =
        CertificateAuthority.open(folder.resolve("ours")).issue("open", List.of(ONE), 90);
    Files.setPosixFilePermissions(
        open.folder().resolve("password"), PosixFilePermissions.fromString("rw-r--r--"));
    assertThatThrownBy(() -> HostKeys.in(open.folder()))
        .hasMessageContaining("password can be read by others (rw-r--r--)");
    assertThatThrownBy(() -> HostKeys.in(folder))
        .hasMessageContaining("node.p12 is missing; copy the host's folder");
  }

  @Test
  void transport_certificatesOfOneAuthority_talk() throws Exception {
    try (Node server = new Node(ONE, TlsTransport.of(one));
        Node client = new Node(TWO, TlsTransport.of(two))) {
      assertThat(answer(client.ask(server, PATIENCE))).isEqualTo("yes");
      endTogether(server, client);
    }
  }

  @Test
  void transport_anotherAuthorityWrongAddressOrNoTls_isCutOff() throws Exception {
    try (Node server = new Node(ONE, TlsTransport.of(one));
        Node friend = new Node(TWO, TlsTransport.of(two));
        Node foreign = new Node(TWO, TlsTransport.of(foreignKeys));
        Node misplaced = new Node("127.0.0.4", TlsTransport.of(two));
        Node plain = new Node(TWO, ConfigFactory.empty())) {
      var foreigners = foreign.ask(server, REFUSAL);
      var plainOnes = plain.ask(server, REFUSAL);
      var otherAddress = server.ask(misplaced, REFUSAL);
      for (CompletionStage<String> refused : List.of(foreigners, plainOnes, otherAddress)) {
        assertThatThrownBy(() -> answer(refused)).isInstanceOf(ExecutionException.class);
      }
      assertThat(answer(friend.ask(server, PATIENCE))).as("the others still talk").isEqualTo("yes");
      endTogether(server, friend, foreign, misplaced, plain);
    }
  }

  @Test
  void transport_certificateThatHasEndedIsIssuedAnew_isTakenUpWithoutARestart() throws Exception {
    CertificateAuthority ours = CertificateAuthority.open(folder.resolve("ours"));
    HostKeys ended = ours.issue("late", List.of(ONE), 1, 2);
    assertThat(CertificateWatch.warning(ended.folder(), Instant.now()).orElseThrow())
        .contains("ended at", "without a restart");
    try (Node server = new Node(ONE, TlsTransport.of(ended));
        Node client = new Node(TWO, TlsTransport.of(two))) {
      CompletionStage<String> refused = client.ask(server, REFUSAL);
      assertThatThrownBy(() -> answer(refused)).isInstanceOf(ExecutionException.class);

      HostKeys renewed = ours.issue("late", List.of(ONE), 90);

      assertThat(renewed.folder()).isEqualTo(ended.folder());
      assertThat(answer(client.askUntilAnswered(server))).isEqualTo("yes");
      assertThat(CertificateWatch.warning(renewed.folder(), Instant.now())).isEmpty();
      endTogether(server, client);
    }
  }

  @Test
  void context_keysIssuedAnewWhileItIsInUse_connectsWithEither() throws Exception {
    CertificateAuthority ours = CertificateAuthority.open(folder.resolve("ours"));
    HostKeys first = ours.issue("again", List.of("127.0.0.1", "localhost"), 90);
    ConnectionFactory endpoint = new ConnectionFactory.Tls(first.context());
    byte[] before = shown(endpoint);
    assertThat(shown(endpoint)).isEqualTo(before);
    HostKeys _ = ours.issue("again", List.of("127.0.0.1", "localhost"), 90);
    byte[] after = shown(endpoint);
    assertThat(after).isNotEqualTo(before);
    Files.delete(first.folder().resolve(HostKeys.PASSWORD)); // half of a copy
    assertThat(shown(endpoint)).isEqualTo(after);
  }

  /** The certificate that a server shows to a client with the same keys. */
  private static byte[] shown(ConnectionFactory endpoint) throws Exception {
    InetSocketAddress free = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (ConnectionFactory.Listener listener = endpoint.listen(free);
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<byte[]> shown =
          threads.submit(
              () -> {
                try (Connection wire = endpoint.connect(listener.address(), PATIENCE)) {
                  SSLSocket socket = ((Connection.Encrypted) wire).socket();
                  socket.startHandshake();
                  return socket.getSession().getPeerCertificates()[0].getEncoded();
                }
              });
      try (Connection accepted = listener.accept()) {
        ((Connection.Encrypted) accepted).socket().startHandshake();
        return shown.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
    }
  }

  private static String answer(CompletionStage<String> asked) throws Exception {
    return asked.toCompletableFuture().get(PATIENCE.toSeconds() + 10, TimeUnit.SECONDS);
  }

  /** Each waits for the others to hang up, so that one after the other takes longer. */
  private static void endTogether(Node... nodes) {
    for (Node node : nodes) {
      node.system.terminate();
    }
  }

  @Test
  void tellingTrust_certificateOfAnotherAuthority_saysWhoseItIsAndForWhichAddress()
      throws Exception {
    List<String> reported = new ArrayList<>();
    LoggingTrustCheck trust = new LoggingTrustCheck(trusting(one), reported::add);
    X509Certificate[] friendly = chain(two);
    trust.checkClientTrusted(friendly, "UNKNOWN");
    assertThat(reported).isEmpty();
    X509Certificate[] foreign = chain(foreignKeys);
    assertThatThrownBy(() -> trust.checkClientTrusted(foreign, "UNKNOWN"))
        .isInstanceOf(CertificateException.class);
    assertThat(reported).singleElement().asString().contains("CN=two", "for " + TWO, "PKIX");
  }

  private static X509ExtendedTrustManager trusting(HostKeys keys) throws Exception {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(HostKeys.load(keys.folder().resolve(HostKeys.TRUST), password(keys)));
    return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
  }

  private static X509Certificate[] chain(HostKeys keys) throws Exception {
    return Arrays.stream(
            HostKeys.load(keys.folder().resolve(HostKeys.KEYS), password(keys))
                .getCertificateChain(HostKeys.ALIAS))
        .map(X509Certificate.class::cast)
        .toArray(X509Certificate[]::new);
  }

  private static char[] password(HostKeys keys) throws IOException {
    return KeyStorePasswords.read(keys.folder().resolve(HostKeys.PASSWORD));
  }

  /** An actor system that answers. */
  private static final class Node implements AutoCloseable {
    private final ActorSystem<Question> system;

    Node(String address, Config transport) {
      Config own =
          ConfigFactory.parseString(
              """
              akka {
                loglevel = ERROR
                stdout-loglevel = OFF
                extensions = ["io.troupe.cluster.membership.TransportCutoff"]
                actor.provider = cluster
                actor.allow-java-serialization = off
                actor.serialization-bindings."%s" = jackson-cbor
                remote.artery { transport = tcp, canonical { hostname = "%s", port = 0 } }
                cluster.jmx.enabled = off
                cluster.downing-provider-class = "akka.cluster.sbr.SplitBrainResolverProvider"
                coordinated-shutdown.exit-jvm = off
                coordinated-shutdown.run-by-jvm-shutdown-hook = off
              }
              troupe.transport-cutoff-patience = 2s
              """
                  .formatted(Question.class.getName(), address));
      this.system =
          ActorSystem.create(
              answering(), "troupe", ConfigFactory.load(transport.withFallback(own)));
    }

    private static Behavior<Question> answering() {
      return Behaviors.setup(
          context -> {
            context.spawn(
                Behaviors.receive(Question.class)
                    .onMessage(
                        Question.class,
                        asked -> {
                          asked.replyTo().tell("yes");
                          return Behaviors.same();
                        })
                    .build(),
                "peer");
            return Behaviors.empty();
          });
    }

    CompletionStage<String> ask(Node other, Duration patience) {
      String path = Cluster.get(other.system).selfMember().address() + "/user/peer";
      ActorRef<Question> gate = ActorRefResolver.get(system).resolveActorRef(path);
      return AskPattern.ask(gate, Question::new, patience, system.scheduler());
    }

    /** Asks again where the answer to an earlier question stays out. */
    CompletionStage<String> askUntilAnswered(Node other) {
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      return ask(other, REFUSAL)
          .exceptionallyCompose(
              silent ->
                  System.nanoTime() < deadline
                      ? askUntilAnswered(other)
                      : CompletableFuture.failedFuture(silent));
    }

    @Override
    public void close() {
      system.terminate();
      system.getWhenTerminated().toCompletableFuture().orTimeout(120, TimeUnit.SECONDS).join();
    }
  }
}
