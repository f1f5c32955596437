package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.troupe.base.process.ExitCode;
import io.troupe.launch.LaunchCommand;
import io.troupe.launch.SshServer;
import io.troupe.launch.remote.Bundle;
import io.troupe.launch.remote.RemoteFolder;
import io.troupe.launch.remote.RemoteHost;
import io.troupe.launch.remote.RemoteHosts;
import io.troupe.launch.remote.SshClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code troupe launch} where one of three hosts is gone. The two that are there share a disk, and
 * so one agent.
 */
final class HostRunnerTest {
  private static final List<String> ADDRESSES = List.of("127.0.0.2", "127.0.0.3");
  private static final String GONE = "127.0.0.5";

  @TempDir private Path folder;
  private SshServer server;
  private Path there;

  @BeforeEach
  void startServer() throws Exception {
    assumeTrue(SshServer.installed(), "no sshd: apt-get install openssh-server openssh-client");
    there = folder.resolve("there");
    server = SshServer.start(Files.createDirectories(folder.resolve("keys")), ADDRESSES);
  }

  @AfterEach
  void stopServer() {
    if (server != null) {
      server.close();
    }
  }

  @Test
  void resumeStatusAndStop_hostGone_nameItAndDoTheRest() throws Exception {
    List<RemoteHost> hosts = ADDRESSES.stream().map(server::host).toList();
    try (RemoteHosts fleet =
        new RemoteHosts(
            hosts,
            new SshClient(server.options("user"), Files.createTempDirectory("troupe-ssh")),
            new RemoteFolder(there.toString()),
            Clock.systemUTC(),
            _ -> {})) {
      fleet.copy(bundle(), Map.of());
      RemoteHost coordinator = hosts.getFirst();
      fleet.start(coordinator, LaunchCommand.AGENT, "/jdk", List.of("node", "--port", "7401"));
      fleet.start(coordinator, LaunchCommand.RUN, "/jdk", List.of("train", "x", "--cluster"));
      fleet.stop(coordinator, LaunchCommand.RUN);
    }
    Files.createDirectories(there.resolve("runs/toy-1"));

    CommandOutput resumed = launch(List.of("127.0.0.2", GONE, "127.0.0.3"), "resume", "--detach");
    assertThat(resumed.code()).as(resumed.err()).isEqualTo(ExitCode.UNREACHABLE.code());
    assertThat(resumed.err()).contains(GONE + ": cannot be reached by ssh");
    assertThat(resumed.out())
        .contains("resumes toy-1", "is left out; when it is back:", "restart-node " + GONE);
    assertThat(Files.readAllLines(there.resolve("run.args")))
        .containsExactly(
            "/jdk",
            "train",
            "--resume",
            "toy-1",
            "--cluster",
            "--seed",
            "127.0.0.2:7401",
            "--seed",
            "127.0.0.3:7401");

    CommandOutput status = launch(List.of(GONE, "127.0.0.3"), "status");
    assertThat(status.code()).isEqualTo(ExitCode.UNREACHABLE.code());
    assertThat(status.out()).contains("agent: process");
    assertThat(status.err().lines()).hasSize(1);

    CommandOutput followed = launch(List.of(GONE, "127.0.0.3"), "logs", "--follow");
    assertThat(followed.code()).isEqualTo(ExitCode.UNREACHABLE.code());
    assertThat(followed.out())
        .contains("broke: ", "whether it continues is not known", "follow  troupe launch logs");

    CommandOutput stopped = launch(List.of("127.0.0.2", GONE, "127.0.0.3"), "stop");
    assertThat(stopped.code()).isEqualTo(ExitCode.UNREACHABLE.code());
    assertThat(stopped.out()).contains("run ended", "agent ended", "no agent was started");
    assertThat(stopped.err().lines()).hasSize(1);
  }

  @Test
  void resume_keysAmiss_isRefusedBeforeAnythingStarts() throws Exception {
    Files.createDirectories(there.resolve("runs/toy-1"));
    Files.writeString(there.resolve(".troupe-launch"), "");
    Files.writeString(there.resolve("run.exit"), "0");
    started(there, "train", "x", "--cluster");
    CommandOutput plain = launch(List.of("127.0.0.2"), "resume", "--tls", folder.toString());
    assertThat(plain.code()).isNotZero();
    assertThat(plain.err()).contains("launched without --tls", "resume it without --tls");

    started(there, "train", "x", "--cluster", "--tls", "keys");
    CommandOutput keyless = launch(List.of("127.0.0.2", GONE, "127.0.0.3"), "resume");
    assertThat(keyless.err())
        .contains(
            server.host("127.0.0.2").login()
                + ", "
                + server.host("127.0.0.3").login()
                + ": the keys are gone",
            "pass --tls DIR");
    assertThat(Files.readAllLines(there.resolve("run.args"))).contains("x");
  }

  private static void started(Path there, String... arguments) throws Exception {
    Files.writeString(there.resolve("run.args"), "/jdk\n" + String.join("\n", arguments) + "\n");
  }

  private CommandOutput launch(List<String> addresses, String... words) throws Exception {
    Path hosts = folder.resolve("hosts.txt");
    Files.write(
        hosts,
        addresses.stream()
            .map(server::host)
            .map(host -> host.login() + " " + host.sshPort())
            .toList());
    List<String> arguments = new ArrayList<>(List.of("launch"));
    arguments.addAll(List.of(words));
    arguments.addAll(List.of("--hosts", hosts.toString(), "--remote", there.toString()));
    server.options("user").forEach(option -> arguments.addAll(List.of("--ssh-option", option)));
    return CommandOutput.by(arguments.toArray(String[]::new));
  }

  private Bundle bundle() throws Exception {
    Path build = folder.resolve("build");
    Files.writeString(Files.createDirectories(build.resolve("lib")).resolve("order"), "");
    Path script =
        Files.writeString(
            Files.createDirectories(build.resolve("bin")).resolve("troupe"),
            "#!/bin/sh\ntrap 'exit 0' TERM\nwhile :; do sleep 0.1; done\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    return Bundle.of(build);
  }
}
