package io.troupe.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SoakFilesTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"soak.yaml", "soak-cluster.yaml"})
  void write_withAndWithoutAgents_namesProgramsThatAreThere(String name) throws IOException {
    String plain = Files.readString(SoakFiles.write(folder, name, 0));
    assertThat(plain)
        .contains("run=python3 -u " + folder.resolve("verifier.py"))
        .contains("policy: {engine: toy")
        .doesNotContain("VERIFIER", "EPISODE", "episode:");
    String agents = Files.readString(SoakFiles.write(folder, name, 3));
    assertThat(agents)
        .contains("command: [/usr/bin/python3, %s]".formatted(folder.resolve("agents/agent.py")))
        .contains("folders: [%s]".formatted(folder.resolve("agents")))
        .contains("engine: djl", "count: 3")
        .doesNotContain("AGENT", "FOLDER", "COUNT", "EPISODE", "engine: toy");
    assertThat(folder.resolve("agents")).isDirectoryContaining("glob:**/agent.py");
  }
}
