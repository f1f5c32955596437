package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/**
 * What is in deploy/ is well-formed, and starts processes with options that the program takes. The
 * container engine, the cluster and the init system are not there.
 */
final class DeployTest {
  private static final Path DEPLOY = Path.of("../../deploy");

  @Test
  void kubernetes_everyDocument_isANamedObject() throws IOException {
    int objects = 0;
    for (Object document :
        new Yaml().loadAll(Files.readString(DEPLOY.resolve("kubernetes/troupe.yaml")))) {
      assertThat(document)
          .isInstanceOfSatisfying(
              Map.class,
              object -> {
                assertThat(object.get("apiVersion")).isInstanceOf(String.class);
                assertThat(object.get("kind")).isInstanceOf(String.class);
                assertThat(object.get("metadata"))
                    .isInstanceOfSatisfying(
                        Map.class, named -> assertThat(named.get("name")).isNotNull());
              });
      objects++;
    }
    assertThat(objects).isEqualTo(5);
  }

  @Test
  void kubernetes_containers_startProcessesWithOptionsTheProgramTakes() throws IOException {
    List<List<String>> started = new ArrayList<>();
    for (Object document :
        new Yaml().loadAll(Files.readString(DEPLOY.resolve("kubernetes/troupe.yaml")))) {
      for (Object container : below(document, "spec", "template", "spec", "containers")) {
        started.add(below(container, "args").stream().map(String::valueOf).toList());
      }
    }
    assertThat(started).extracting(List::getFirst).containsExactly("train", "node");
    started.forEach(arguments -> assertTaken(arguments));
    assertThat(started.getFirst()).contains("--continue");
    assertThat(started).allSatisfy(arguments -> assertThat(arguments).contains("--tls=/keys"));
  }

  @Test
  void jobSet_containers_startTheSameProcessesAndEndWithTheCoordinator() throws IOException {
    List<String> started = new ArrayList<>();
    Object set = Map.of();
    for (Object document :
        new Yaml().loadAll(Files.readString(DEPLOY.resolve("kubernetes/jobset.yaml")))) {
      set = document;
    }
    for (Object job : below(set, "spec", "replicatedJobs")) {
      for (Object container : below(job, "template", "spec", "template", "spec", "containers")) {
        List<String> arguments = below(container, "args").stream().map(String::valueOf).toList();
        assertTaken(arguments);
        assertThat(arguments).contains("--tls=/keys");
        started.add(arguments.getFirst());
        assertThat(((Map<?, ?>) container).keySet().stream().map(String::valueOf))
            .contains("startupProbe", "livenessProbe");
      }
    }
    assertThat(started).containsExactly("train", "node");
    assertThat(
            below(set, "spec", "successPolicy", "targetReplicatedJobs").stream()
                .map(String::valueOf))
        .containsExactly("coordinator");
  }

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

  /** What lies at a path of keys; none where the path ends before. */
  private static List<?> below(Object document, String... keys) {
    Object at = document;
    for (String key : keys) {
      at = at instanceof Map<?, ?> map && map.containsKey(key) ? map.get(key) : List.of();
    }
    return (List<?>) at;
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
