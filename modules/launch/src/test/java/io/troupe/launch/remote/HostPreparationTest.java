package io.troupe.launch.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.clock.Surroundings;
import io.troupe.launch.PlayedSsh;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hosts that have just started, with a program in ssh's place. */
final class HostPreparationTest {
  private static final String PROCESSOR = System.getProperty("os.arch").replace("amd64", "x86_64");

  @TempDir private Path folder;
  private PlayedSsh ssh;
  private final List<String> said = new ArrayList<>();

  @BeforeEach
  void playSsh() throws IOException {
    ssh = new PlayedSsh(folder.resolve("ssh"));
  }

  private void prepare(Duration patience, String processor, String... logins) throws Exception {
    Path hosts = folder.resolve("hosts");
    Files.write(hosts, List.of(logins));
    HostPreparation.prepare(
        hosts,
        new SshAccess(ssh.program(), List.of()),
        new HostPreparation.HostSupplies(
            Optional.of(PlayedSsh.build(folder.resolve("build"))),
            PlayedSsh.jdk(folder.resolve("jdk"), processor)),
        new HostPreparation.HostWait(
            patience, Surroundings.ofProcess(Duration.ofMillis(10), said::add)));
  }

  @Test
  void prepare_hostsThatStart_waitsForSshAndSetupAndCopiesWhatIsLacking() throws Exception {
    Path first = ssh.host("me@10.0.0.1");
    Path second = ssh.host("me@10.0.0.2");
    Files.writeString(first.resolve("refuse.1"), "");
    Files.writeString(first.resolve("refuse.2"), "");
    Files.writeString(second.resolve("setup.1"), "status: not started\n");
    Files.writeString(second.resolve("setup.2"), "status: running\n");
    PlayedSsh.jdk(second.resolve("jvm/temurin-25"), PROCESSOR);

    prepare(Duration.ofMinutes(5), PROCESSOR, "me@10.0.0.1", "me@10.0.0.2");

    assertThat(said.stream().map(line -> line.replace(folder.toString(), "")))
        .containsExactly(
            "me@10.0.0.1              not ready yet: me@10.0.0.1: cannot be reached by ssh (connect:"
                + " Connection refused); is it up, and does this work: ssh -p 22 me@10.0.0.1 true",
            "me@10.0.0.1              copying the JDK /jdk",
            "me@10.0.0.1              ready, with JDK"
                + " /ssh/me@10.0.0.1/.troupe/launch/10.0.0.1/jdk",
            "me@10.0.0.2              not ready yet: its setup commands (cloud-init: not started)",
            "me@10.0.0.2              not ready yet: its setup commands (cloud-init: running)",
            "me@10.0.0.2              ready, with JDK /ssh/me@10.0.0.2/jvm/temurin-25",
            "me@10.0.0.1              copying the build",
            "me@10.0.0.2              copying the build");
    said.clear();

    prepare(Duration.ofMinutes(5), PROCESSOR, "me@10.0.0.1", "me@10.0.0.2");

    assertThat(said)
        .hasSize(4)
        .contains("me@10.0.0.1              has this build")
        .noneMatch(line -> line.contains("copying"));
  }

  @Test
  void prepare_hostThatNeverAnswers_namesItAndWhatToTryAndStillLooksAtTheOthers() throws Exception {
    ssh.host("me@10.0.0.2");

    assertThatThrownBy(
            () -> prepare(Duration.ofMillis(50), PROCESSOR, "me@10.0.0.1", "me@10.0.0.2"))
        .isInstanceOf(RemoteHosts.NotReadyException.class)
        .hasMessage(
            "me@10.0.0.1 is not ready after 0 s: me@10.0.0.1: cannot be reached by ssh (connect:"
                + " Connection timed out); is it up, and does this work: ssh -p 22 me@10.0.0.1"
                + " true");
    assertThat(Files.readString(folder.resolve("ssh/calls"))).contains("me@10.0.0.2");
    assertThat(said).anyMatch(line -> line.startsWith("me@10.0.0.2              ready"));
  }

  @Test
  void prepare_setupThatFails_saysSoWithItsLastWordsAndDoesNotWait() throws Exception {
    Path host = ssh.host("me@10.0.0.1");
    Files.writeString(host.resolve("setup.1"), "status: error\n");
    Files.writeString(host.resolve("cloud-init-output.log"), "E: Unable to locate package\n");

    assertThatThrownBy(() -> prepare(Duration.ofDays(1), PROCESSOR, "me@10.0.0.1"))
        .isInstanceOf(RemoteHosts.NotReadyException.class)
        .hasMessage(
            "me@10.0.0.1: its setup commands failed (E: Unable to locate package); see"
                + " /var/log/cloud-init-output.log there, and correct `setup`");
  }

  @Test
  void prepare_jdkOfAnotherProcessor_refusesToCopyIt() throws Exception {
    ssh.host("me@10.0.0.1");

    assertThatThrownBy(() -> prepare(Duration.ofDays(1), "pdp11", "me@10.0.0.1"))
        .isInstanceOf(RemoteHosts.NotReadyException.class)
        .hasMessageContaining("me@10.0.0.1: no JDK 25 or newer there, and ")
        .hasMessageContaining("is not for its processor, " + PROCESSOR)
        .hasMessageContaining("install one by `setup`, or give another --jdk");
    assertThat(folder.resolve("ssh/me@10.0.0.1/.troupe")).doesNotExist();
  }

  @Test
  void prepare_hostWithAnAgent_staysAsItIs() throws Exception {
    Path host = ssh.host("me@10.0.0.1");
    Path launch = Files.createDirectories(host.resolve(".troupe/launch/10.0.0.1"));
    Files.writeString(launch.resolve(".troupe-launch"), "");
    long pid = ProcessHandle.current().pid();
    String stat = Files.readString(Path.of("/proc/self/stat"));
    String start = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[19];
    Files.writeString(launch.resolve("agent.pid"), "%d %s\n".formatted(pid, start));

    prepare(Duration.ofMinutes(5), PROCESSOR, "me@10.0.0.1");

    assertThat(said)
        .containsExactly(
            "me@10.0.0.1              an agent runs there (process %d); it stays as it is"
                .formatted(pid));
    assertThat(launch.resolve("jdk")).doesNotExist();
  }
}
