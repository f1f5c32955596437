package io.troupe.launch;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.Announcements;
import io.troupe.base.process.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code troupe launch} on two hosts that are folders, with scripts in place of ssh and of Troupe:
 * what a dry run says and leaves alone, and what JSON holds.
 */
final class LaunchCommandTest {
  private static final List<String> HOSTS = List.of("me@10.0.0.1", "me@10.0.0.2");
  private static final String CONFIG = "../../conf/toy.yaml";
  private static final String PROGRAM =
      """
      #!/bin/sh
      trap 'echo drained; exit 0' TERM
      echo "%s"
      while :; do sleep 0.1; done
      """
          .formatted(Announcements.AGENT_READY);

  @TempDir private Path folder;
  private PlayedSsh ssh;

  @BeforeEach
  void playHosts() throws IOException {
    ssh = new PlayedSsh(folder.resolve("ssh"));
    for (String login : HOSTS) {
      PlayedSsh.jdk(ssh.host(login).resolve("jvm/25"), "");
    }
    Files.write(folder.resolve("hosts.txt"), HOSTS);
  }

  @AfterEach
  void stopAll() {
    launch("stop");
  }

  private Path there(String login) throws IOException {
    return ssh.host(login).resolve(".troupe/launch/" + login.substring("me@".length()));
  }

  /** Runs a command and returns its end. */
  private CommandEnd launch(String... words) {
    List<String> arguments = new ArrayList<>(List.of(words));
    arguments.addAll(List.of("--hosts", folder.resolve("hosts.txt").toString()));
    arguments.addAll(List.of("--ssh", ssh.program()));
    return CommandEnd.of(new LaunchCommand(), arguments);
  }

  private CommandEnd up(String build, String... more) {
    List<String> words = new ArrayList<>(List.of("up", CONFIG, "--allow-plain-tcp"));
    words.addAll(List.of("--port", "28400", "--weights-port", "28410"));
    words.addAll(List.of("--build", folder.resolve(build).toString()));
    words.addAll(List.of(more));
    return launch(words.toArray(String[]::new));
  }

  private void build(String name, String program) throws IOException {
    Path build = folder.resolve(name);
    Files.writeString(Files.createDirectories(build.resolve("lib")).resolve("order"), "");
    Path script = Files.createDirectories(build.resolve("bin")).resolve("troupe");
    Files.writeString(script, program);
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  @Test
  void dryRun_ofEveryCommand_saysWhatItWouldDoAndChangesNothing() throws Exception {
    build("build", PROGRAM);
    CommandEnd rehearsed = up("build", "--dry-run");
    assertThat(rehearsed.code()).as(rehearsed.err()).isZero();
    assertThat(rehearsed.out())
        .contains("would copy build ")
        .contains("would start troupe train run.yaml --cluster --address 10.0.0.1 --port 28400")
        .contains("would start troupe node --name 10.0.0.2 --address 10.0.0.2 --port 28401")
        .doesNotContain("delete");
    for (String login : HOSTS) {
      assertThat(ssh.host(login).resolve(".troupe")).doesNotExist();
    }

    CommandEnd started = up("build", "--json");
    assertThat(started.code()).as(started.err()).isZero();
    assertThat(started.json().at("/hosts/0/run/0").asText()).isEqualTo("train");
    assertThat(started.json().at("/hosts/1/agent_up").asBoolean()).isTrue();
    assertThat(launch("stop", "--dry-run").out()).contains("would end run", "would end agent");
    assertThat(launch("resume", "--dry-run").err()).contains("the run continues there");
    CommandEnd restart = launch("restart-node", "10.0.0.2", "--dry-run");
    assertThat(restart.out()).contains("would end agent", "would start troupe node --name");
    CommandEnd status = launch("status", "--json");
    assertThat(status.code()).isZero();
    assertThat(status.json().at("/hosts/0/run/alive").asBoolean()).isTrue();
    assertThat(status.json().at("/hosts/1/agent/alive").asBoolean()).isTrue();
    assertThat(launch("logs", "--json").json().at("/hosts/0/run/0").asText())
        .isEqualTo(Announcements.AGENT_READY);
    assertThat(launch("logs", "--json", "--follow").code()).isEqualTo(ExitCode.USAGE.code());

    CommandEnd stopped = launch("stop", "--json");
    assertThat(stopped.json().at("/hosts/0/run").asText()).isEqualTo("run ended");
    assertThat(stopped.json().at("/exit").asInt()).isZero();
    CommandEnd again = launch("stop", "--json");
    assertThat(again.code()).isZero();
    assertThat(again.json().at("/hosts/1/agent").asText()).isEqualTo("no agent was started");

    Files.createDirectories(there(HOSTS.getFirst()).resolve("runs/toy-1"));
    String before = Files.readString(there(HOSTS.getFirst()).resolve("run.args"));
    CommandEnd resume = launch("resume", "--dry-run", "--json");
    assertThat(resume.code()).as(resume.err()).isZero();
    assertThat(resume.json().at("/run").asText()).isEqualTo("toy-1");
    assertThat(resume.json().at("/hosts/0/run").toString()).contains("\"--resume\",\"toy-1\"");
    assertThat(resume.err()).contains("would start its agent again");
    assertThat(there(HOSTS.getFirst()).resolve("run.args")).content().isEqualTo(before);
    build("newer", PROGRAM + "# another build\n");
    assertThat(up("newer", "--dry-run").out()).contains(", and delete build ");
    assertThat(launch("status").code()).isEqualTo(ExitCode.UNREACHABLE.code());
  }

  @Test
  void up_hostThatIsNotFit_saysSoInJson() throws Exception {
    build("build", PROGRAM);
    Path full = Files.createDirectories(there(HOSTS.getLast()));
    Files.writeString(full.resolve("thesis.tex"), "");

    CommandEnd refused = up("build", "--dry-run", "--json");

    assertThat(refused.code()).isEqualTo(ExitCode.UNREACHABLE.code());
    assertThat(refused.json().at("/problems/0").asText())
        .contains("holds files that no launch put there");
    assertThat(refused.err()).contains("nothing was started");
  }
}
