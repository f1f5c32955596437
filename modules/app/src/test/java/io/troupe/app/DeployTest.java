package io.troupe.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** What is in deploy/ is at least well-formed. */
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
