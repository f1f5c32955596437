package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The files of deploy/ are well-formed, and start processes with options that the program takes.
 * The container engine and the init system are not there; {@link KubernetesManifestTest} looks at
 * the manifests.
 */
final class DeployTest {
  private static final Path DEPLOY = Path.of("../../deploy");

  @ParameterizedTest
  @ValueSource(strings = {"troupe-node@.service", "troupe-run@.service"})
  void systemd_unit_startsAProcessWithOptionsTheProgramTakes(String name) throws IOException {
    String start =
        Files.readAllLines(DEPLOY.resolve("systemd").resolve(name)).stream()
            .filter(line -> line.startsWith("ExecStart="))
            .findFirst()
            .orElseThrow();
    List<String> words =
        List.of(
            start
                .replace("${PORT}", "7400")
                .replace("${COORDINATOR}", "coordinator:7400")
                .split(" ", -1));
    assertTaken(words.subList(1, words.size()));
    assertThat(words).contains("--tls");
  }

  @ParameterizedTest
  @ValueSource(strings = {"troupe-node@.service", "troupe-run@.service"})
  void systemd_unit_isAcceptedBySystemd(String name, @TempDir Path folder) throws Exception {
    Path tool = Path.of("/usr/bin/systemd-analyze");
    assumeTrue(Files.isExecutable(tool), "no systemd-analyze: apt-get install systemd");
    // The program, its user and its keys are not on this machine.
    Path unit =
        Files.writeString(
            folder.resolve(name.replace("@", "@x")),
            Files.readString(DEPLOY.resolve("systemd").resolve(name))
                .replace("/opt/troupe/bin/troupe", "/bin/true")
                .replace("User=troupe", "User=root"));
    Process analyze =
        new ProcessBuilder(tool.toString(), "verify", "--man=no", unit.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(analyze.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(analyze.waitFor()).as(said).isZero();
    assertThat(said.lines().filter(line -> line.contains(unit.getFileName().toString()))).isEmpty();
  }

  private static void assertTaken(List<String> arguments) {
    assertThatCode(() -> Main.commandLine().parseArgs(arguments.toArray(String[]::new)))
        .as(String.join(" ", arguments))
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(strings = {"troupe-node@.service", "troupe-run@.service"})
  void systemd_unit_hasSectionsAndSettings(String name) throws IOException {
    List<String> lines =
        Files.readAllLines(DEPLOY.resolve("systemd").resolve(name)).stream()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .toList();
    assertThat(lines).allMatch(line -> line.matches("\\[\\w+]|[A-Z]\\w+=.*"));
    assertThat(lines).contains("[Unit]", "[Service]", "[Install]", "KillSignal=SIGTERM");
  }

  @Test
  void launchScript_isBashThatParses() throws Exception {
    Process bash = new ProcessBuilder("bash", "-n", DEPLOY.resolve("launch.sh").toString()).start();
    assertThat(bash.waitFor()).isZero();
    try (Stream<Path> files = Files.list(DEPLOY)) {
      assertThat(files.map(file -> file.getFileName().toString()).toList())
          .contains("Dockerfile", "kubernetes", "launch.sh", "systemd");
    }
  }
}
