package io.troupe.launch.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.troupe.base.process.Announcements;
import io.troupe.launch.SshServer;
import io.troupe.net.tls.HostKeys;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A launch over a real ssh server whose three loopback addresses are three hosts. They share one
 * disk, so each test has one folder on them, and a program of three lines in place of Troupe.
 */
final class RemoteHostsTest {
  private static final List<String> ADDRESSES = List.of("127.0.0.2", "127.0.0.3", "127.0.0.4");
  private static final String PROGRAM =
      """
      #!/bin/sh
      trap 'echo drained; exit 0' TERM
      echo "node $3 %s troupe, with JDK $JAVA_HOME"
      while :; do sleep 0.1; done
      """
          .formatted(Announcements.AGENT_READY);

  @TempDir private static Path keys;
  @TempDir private Path folder;
  private static SshServer server;
  private final List<String> said = new ArrayList<>();

  @BeforeAll
  static void startServer() throws Exception {
    assumeTrue(
        SshServer.installed(), "no sshd: apt-get install openssh-server openssh-client to test it");
    server = SshServer.start(keys, ADDRESSES);
  }

  @AfterAll
  static void stopServer() {
    if (server != null) {
      server.close();
    }
  }

  @Test
  void launch_threeHosts_startsAgentsThatOutliveTheConnectionAndStopsThem() throws Exception {
    RemoteHosts fleet = fleet(hosts(), "user", Clock.systemUTC());
    Map<RemoteHost, HostFacts> facts = fleet.check(List.of());
    assertThat(facts.keySet()).containsExactlyElementsOf(hosts());
    fleet.copy(bundle(), facts);
    for (RemoteHost host : hosts()) {
      String name = "agent-" + host.address();
      fleet.start(host, name, "/jdk", List.of("node", "--name", host.address() + " it's"));
      fleet.await(host, name, Announcements.AGENT_READY);
      assertThat(fleet.status(host, name).alive()).isTrue();
    }
    assertThat(said.getLast())
        .contains(
            "agent-127.0.0.4: process ",
            "node 127.0.0.4 it's " + Announcements.AGENT_READY,
            "JDK /jdk");

    RemoteHost last = hosts().getLast();
    for (RemoteHost host : hosts()) {
      fleet.stop(host, "agent-" + host.address());
    }
    assertThat(said.getLast()).contains("agent-127.0.0.4 ended");
    assertThat(Files.readString(folder.resolve("there/agent-127.0.0.4.log"))).contains("drained");
    fleet.again(last, "agent-127.0.0.4");
    assertThat(fleet.status(last, "agent-127.0.0.4").alive()).isTrue();
    fleet.stop(last, "agent-127.0.0.4");
    assertThat(fleet.status(last, "agent-127.0.0.4").alive()).isFalse();
    assertThat(said.getLast()).contains("not started");
    fleet.copy(bundle(), fleet.check(List.of()));
    assertThat(said.getLast()).contains("has this build");
  }

  @Test
  void check_unreachableHostWrongKeyOrStranger_saysWhatToDo() throws Exception {
    RemoteHost nobody = new RemoteHost("127.0.0.5", "127.0.0.5", SshServer.freePort());
    assertThatThrownBy(() -> fleet(List.of(nobody), "user", Clock.systemUTC()).check(List.of()))
        .isInstanceOf(RemoteHosts.NotReadyException.class)
        .hasMessageContaining("127.0.0.5: cannot be reached by ssh")
        .hasMessageContaining("does this work: ssh -p");
    assertThatThrownBy(() -> fleet(hosts(), "stranger", Clock.systemUTC()).check(List.of()))
        .isInstanceOf(RemoteHosts.NotReadyException.class)
        .hasMessageContaining("ssh is not let in")
        .hasMessageContaining("authorized_keys");
  }

  @Test
  void check_portInUseAndClockAhead_namesBoth() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.2"))) {
      Clock late = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(-2));
      assertThatThrownBy(
              () -> fleet(hosts().subList(0, 1), "user", late).check(List.of(taken.getLocalPort())))
          .isInstanceOf(RemoteHosts.NotReadyException.class)
          .hasMessageContaining("port %d is in use; see by whom".formatted(taken.getLocalPort()))
          .hasMessageContaining(" s ahead of ours; start a time service");
    }
  }

  @Test
  void await_processThatEnds_quotesItsLastWords() throws Exception {
    RemoteHosts fleet = fleet(hosts(), "user", Clock.systemUTC());
    fleet.copy(bundle("#!/bin/sh\necho 'error: no such option'\nexit 2\n"), fleet.check(List.of()));
    RemoteHost host = hosts().getFirst();
    fleet.start(host, "agent", "/jdk", List.of("node"));
    assertThatThrownBy(() -> fleet.await(host, "agent", Announcements.AGENT_READY))
        .hasMessageContaining("agent ended; its last words")
        .hasMessageContaining("error: no such option");
  }

  @Test
  void copyKeys_ofEachHost_areReadByTheirOwnerOnlyAndReplaceThoseBefore() throws Exception {
    RemoteHost host = hosts().getFirst();
    RemoteHosts fleet = fleet(List.of(host), "user", Clock.systemUTC());
    fleet.copy(bundle(), fleet.check(List.of()));
    for (String key : List.of("old", "new")) {
      Path made = Files.createDirectories(folder.resolve(key));
      Files.writeString(made.resolve("node.p12"), key);
      Files.writeString(made.resolve(key), "");
      fleet.copyKeys(new KeyFolders(Map.of(host, made)), host);
    }
    Path there = folder.resolve("there").resolve(RemoteHosts.KEYS);
    assertThat(there.resolve("node.p12")).hasContent("new");
    assertThat(there.resolve("old")).doesNotExist();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(there)))
        .isEqualTo("rwx------");
    assertThat(
            PosixFilePermissions.toString(Files.getPosixFilePermissions(there.resolve("node.p12"))))
        .isEqualTo("rw-------");

    assertThat(fleet.hasKeys(host)).isTrue();
    fleet.start(host, "agent", "/jdk", List.of("node", "--name", "x"));
    fleet.await(host, "agent", Announcements.AGENT_READY);
    fleet.removeKeys(host, List.of("run", "agent"));
    assertThat(said.getLast()).contains("keys stay, which agent (process");
    fleet.stop(host, "agent");
    fleet.removeKeys(host, List.of("run", "agent"));
    assertThat(said.getLast()).contains("keys removed");
    assertThat(there).doesNotExist();
    assertThat(fleet.hasKeys(host)).isFalse();

    Path own = Files.writeString(Files.createDirectory(there).resolve("node.p12"), "own");
    fleet.removeKeys(host, List.of("run", "agent"));
    assertThat(own).as("nobody copied it").exists();
  }

  @Test
  void copy_folderThatIsNotOfALaunch_isRefusedAndKeepsItsFiles() throws Exception {
    Path there = Files.createDirectories(folder.resolve("there/bin"));
    Path mine = Files.writeString(there.resolve("mine"), "mine");
    RemoteHosts fleet = fleet(hosts().subList(0, 1), "user", Clock.systemUTC());
    assertThatThrownBy(() -> fleet.check(List.of()))
        .isInstanceOf(RemoteHosts.NotReadyException.class)
        .hasMessageContaining("there holds files that no launch put there; give an empty folder");
    assertThatThrownBy(() -> fleet.copy(bundle(), Map.of()))
        .hasMessageContaining("holds files that no launch put there");
    assertThatThrownBy(() -> fleet.stop(hosts().getFirst(), "agent"))
        .hasMessageContaining("is no folder that a launch of this user made");
    assertThat(mine).hasContent("mine");
    assertThat(there.getParent()).isDirectoryContaining(path -> path.endsWith("bin"));
  }

  @Test
  void copy_folderThatOthersMayWriteTo_isRefused() throws Exception {
    Path there = Files.createDirectories(folder.resolve("there"));
    Files.setPosixFilePermissions(there, PosixFilePermissions.fromString("rwxrwxrwx"));
    RemoteHosts fleet = fleet(hosts().subList(0, 1), "user", Clock.systemUTC());
    assertThatThrownBy(() -> fleet.check(List.of()))
        .hasMessageContaining("others may write to " + there);
    assertThatThrownBy(() -> fleet.copy(bundle(), Map.of()))
        .hasMessageContaining("others may write to " + there);
    assertThat(there).isEmptyDirectory();
  }

  @Test
  void copy_folderOfSomebodyElse_isRefused() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a folder away");
    Path there = Files.createDirectories(folder.resolve("there"));
    Files.setAttribute(there, "unix:uid", 65534);
    RemoteHosts fleet = fleet(hosts().subList(0, 1), "user", Clock.systemUTC());
    assertThatThrownBy(() -> fleet.check(List.of()))
        .hasMessageContaining("there belongs to somebody else");
    assertThatThrownBy(() -> fleet.copy(bundle(), Map.of()))
        .hasMessageContaining("there belongs to somebody else");
  }

  @Test
  void copy_anotherBuild_replacesTheFormerOneAndNothingElse() throws Exception {
    RemoteHost host = hosts().getFirst();
    RemoteHosts fleet = fleet(List.of(host), "user", Clock.systemUTC());
    fleet.copy(bundle(), fleet.check(List.of()));
    Path there = folder.resolve("there");
    Path run = Files.createDirectories(there.resolve("runs/toy-1"));
    fleet.copy(bundle("#!/bin/sh\necho other\n"), fleet.check(List.of()));
    try (Stream<Path> builds = Files.list(there)) {
      assertThat(builds.filter(path -> path.getFileName().toString().startsWith("build-")))
          .singleElement()
          .satisfies(build -> assertThat(build.resolve("bin/troupe")).content().contains("other"));
    }
    assertThat(run).isDirectory();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(there)))
        .isEqualTo("rwx------");
    fleet.start(host, "agent", "/jdk", List.of("node"));
    fleet.await(host, "agent", "other");
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(there.resolve("agent.log"))))
        .isEqualTo("rw-------");
  }

  @Test
  void copy_interruptedBeforeTheBuildWasNamed_isMadeUpForByTheNext() throws Exception {
    RemoteHost host = hosts().getFirst();
    RemoteHosts fleet = fleet(List.of(host), "user", Clock.systemUTC());
    fleet.copy(bundle(), fleet.check(List.of()));
    Path there = folder.resolve("there");
    Files.delete(there.resolve("build"));
    Map<RemoteHost, HostFacts> facts = fleet.check(List.of());
    assertThat(build(facts)).isEmpty();
    fleet.copy(bundle(), facts);
    assertThat(said.getLast()).contains("copying the build");
    fleet.start(host, "agent", "/jdk", List.of("node", "--name", "x"));
    fleet.await(host, "agent", Announcements.AGENT_READY);
    fleet.stop(host, "agent");
    assertThat(build(fleet.check(List.of()))).isEqualTo(bundle().digest());
    Files.writeString(there.resolve("build"), "gone\n");
    assertThat(build(fleet.check(List.of()))).as("no such folder").isEmpty();
  }

  @Test
  void feed_scriptThatHangs_endsAtItsLimit() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    SshClient ssh =
        new SshClient(server.options("user"), Files.createDirectories(keys.resolve("hang")));
    RemoteHost host = hosts().getFirst();
    assertThatThrownBy(
            () ->
                ssh.scriptWithInput(
                    host, "read line <'" + pipe + "'", _ -> {}, Duration.ofMillis(500)))
        .hasMessageContaining("has no answer after 0 s; look there for a disk that hangs");
    // Opened for both ways, a pipe needs no reader: the script may have been ended before it read.
    try (RandomAccessFile both = new RandomAccessFile(pipe.toFile(), "rw")) {
      both.writeBytes("end\n");
      ssh.close(List.of(host));
    }
  }

  @Test
  void remoteFolder_belowHomeAndByHost_isAWordOfTheShell() {
    RemoteHost host = new RemoteHost("ops@10.0.0.2", "10.0.0.2", 22);
    RemoteFolder home = new RemoteFolder(RemoteFolder.DEFAULT);
    assertThat(home.shellWord(host)).isEqualTo("\"$HOME\"/'.troupe/launch/10.0.0.2'");
    assertThat(new RemoteFolder("/srv/troupe").shellWord(host)).isEqualTo("'/srv/troupe'");
    for (String wrong : List.of("troupe", "/", "~", "~/../x", "/a/..", "/a b", "/a'b", "")) {
      assertThatThrownBy(() -> new RemoteFolder(wrong)).hasMessageContaining("the folder on the");
    }
  }

  @Test
  void keyFolders_hostsOfAnAuthority_areFoundByAddressAndTheMissingNamed() throws Exception {
    Instant now = Instant.EPOCH;
    Path authority = Path.of("certs");
    List<HostKeys> issued =
        List.of(
            new HostKeys(Path.of("old"), List.of("127.0.0.2"), now.minusSeconds(1)),
            new HostKeys(Path.of("first"), List.of("127.0.0.2", "node.lan"), now.plusSeconds(1)));
    RemoteHost has = new RemoteHost("ops@127.0.0.2", "127.0.0.2", 22);
    RemoteHost none = new RemoteHost("127.0.0.9", "127.0.0.9", 22);
    assertThat(KeyFolders.among(issued, authority, List.of(has), now).of(has))
        .isEqualTo(Path.of("first"));
    assertThatThrownBy(() -> KeyFolders.among(issued, authority, List.of(has, none), now))
        .isInstanceOf(RemoteHosts.NotReadyException.class)
        .hasMessage(
            "no certificate in certs/hosts is good for 127.0.0.9; make one: troupe certs issue"
                + " certs NAME --address 127.0.0.9");
    assertThatThrownBy(() -> KeyFolders.among(issued, authority, List.of(has), now.plusSeconds(2)))
        .hasMessageContaining("the certificate in old ended at")
        .hasMessageContaining("issue it again");
    assertThatThrownBy(() -> KeyFolders.in(folder, List.of(has), now))
        .hasMessageContaining("hosts is no folder; make it by `troupe certs init");
  }

  @Test
  void problems_hostWithoutJdkOrDisk_nameTheNextStep() {
    HostFacts poor = new HostFacts(-9, "", 1024, List.of(), List.of(), "", "", "77");
    assertThat(poor.problems())
        .containsExactly(
            "no JDK 25 or newer in /usr/lib/jvm; install one there (temurin-25-jdk)",
            "its clock is 9 s behind ours; start a time service (chrony, systemd-timesyncd)",
            "1 MiB free for build and data, and 4096 are needed; free some, or give another"
                + " --remote",
            "an agent runs there already (process 77); troupe launch stop --hosts FILE");
  }

  @Test
  void of_hostThatAnswersSlowly_hasNoWrongClock() {
    Map<String, String> said = Map.of("epoch", "1000");
    assertThat(HostFacts.of(said, 990, 1010).skewSeconds()).isZero();
    assertThat(HostFacts.of(said, 1003, 1010).skewSeconds()).isEqualTo(-3);
    assertThat(HostFacts.of(said, 900, 993).skewSeconds()).isEqualTo(7);
  }

  @Test
  void read_hostsFile_takesUsersPortsAndComments() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("hosts.txt"), "# coordinator\nnode1\n\nops@10.0.0.2 2222 # b\n");
    assertThat(RemoteHost.read(file))
        .containsExactly(
            new RemoteHost("node1", "node1", 22), new RemoteHost("ops@10.0.0.2", "10.0.0.2", 2222));
    Files.writeString(file, "node1\n-oProxyCommand=x\n");
    assertThatThrownBy(() -> RemoteHost.read(file)).hasMessageContaining("hosts.txt:2: a host is");
  }

  /** The build of the only host. */
  private static String build(Map<RemoteHost, HostFacts> facts) {
    return facts.values().iterator().next().build();
  }

  private static List<RemoteHost> hosts() {
    return ADDRESSES.stream().map(address -> server.host(address)).toList();
  }

  private RemoteHosts fleet(List<RemoteHost> hosts, String key, Clock clock) throws IOException {
    // Another key must not find the connection that the first has opened.
    Path sockets = Files.createDirectories(keys.resolve("of-" + key));
    return new RemoteHosts(
        hosts,
        new SshClient(server.options(key), sockets),
        new RemoteFolder(folder.resolve("there").toString()),
        clock,
        said::add);
  }

  private Bundle bundle() throws Exception {
    return bundle(PROGRAM);
  }

  private Bundle bundle(String program) throws Exception {
    Path build = folder.resolve("build");
    Files.createDirectories(build.resolve("bin"));
    Files.writeString(Files.createDirectories(build.resolve("lib")).resolve("order"), "");
    Path script = Files.writeString(build.resolve("bin/troupe"), program);
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    return Bundle.of(build);
  }
}
