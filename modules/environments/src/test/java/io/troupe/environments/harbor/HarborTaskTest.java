package io.troupe.environments.harbor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.environments.box.BoxFile;
import io.troupe.environments.container.ContainerChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HarborTaskTest {
  @TempDir private Path folder;

  private Path task(String toml) throws IOException {
    write("instruction.md", "Write 4 to answer.txt.\n");
    write("task.toml", toml);
    write("tests/test.sh", "echo 1 > /logs/verifier/reward.txt\n");
    return folder;
  }

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  @Test
  void read_plainTask_placesItsEnvironmentAndKeepsItsTestsApart() throws IOException {
    write("environment/Dockerfile", "FROM ubuntu:24.04\nWORKDIR /workspace\nCOPY data ./data\n");
    write("environment/data/in.csv", "1,2\n");
    HarborTask task =
        HarborTask.read(
            task(
                """
                schema_version = "1.4"
                artifacts = ["answer.txt", {source = "/data/out"}]
                [verifier]
                timeout_sec = 12.5
                env = {LEVEL = "3"}
                """));
    assertThat(task.instruction()).isEqualTo("Write 4 to answer.txt.");
    assertThat(task.box().contents().folder()).isEqualTo("/workspace");
    assertThat(task.box().contents().files())
        .extracting(BoxFile::path)
        .containsExactly("/workspace/data/in.csv");
    assertThat(task.box().handedIn())
        .containsExactly("/workspace/answer.txt", "/data/out", "/logs/artifacts");
    assertThat(task.tests()).extracting(BoxFile::path).containsExactly("/tests/test.sh");
    assertThat(task.limit()).isEqualTo(Duration.ofMillis(12_500));
    assertThat(task.variables()).isEqualTo(Map.of("LEVEL", "3"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[environment]\\ndocker_image = \"x\" | environment.docker_image asks for a container image",
        "[environment]\\ngpus = 1 | environment.gpus",
        "[environment]\\nallow_internet = true | asks for a network",
        "[[steps]]\\nname = \"a\" | several steps",
        "artifacts = [\"/logs/verifier\"] | belongs to the tests",
        "artifacts = [\"../tests/x\"] | no path of a sandbox",
        "[environment]\\nworkdir = \"/opt/x\" | needs a container image",
        "[verifier]\\nenv = {KEY = \"${KEY}\"} | takes a variable of this machine",
        "artifacts = [ | is no TOML"
      })
  void read_taskOfAContainer_isRefusedByASentence(String toml, String said) throws IOException {
    Path task = task(toml.replace("\\n", "\n"));
    assertThatThrownBy(() -> HarborTask.read(task, new ContainerChoice("none")))
        .isInstanceOf(HarborException.class)
        .hasMessageContaining(said)
        .hasMessageContaining(folder.toString());
  }

  @Test
  void read_dockerfileWithRun_isRefusedByItsLine() throws IOException {
    write("environment/Dockerfile", "FROM ubuntu\n\nRUN apt-get install -y gcc\n");
    Path task = task("");
    assertThatThrownBy(() -> HarborTask.read(task, new ContainerChoice("none")))
        .hasMessageContaining("Dockerfile: line 3 (RUN apt-get install -y gcc) needs a container");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      value = {
        "none | 0.5 | 0.5 | ''",
        "1 | none | 1 | ''",
        "{\"reward\": 0.25, \"speed\": 30} | none | 0.25 | ''",
        "{\"a\": 1, \"b\": 0} | none | 0.5 | ''",
        "{\"reward\": 1} | 1.0 | 1 | ''",
        "{\"reward\": 0} | 1 | 0 | differ",
        "none | none | 0 | left no reward",
        "none | nan | 0 | no number",
        "none | NaN | 0 | a finite number, not NaN",
        "none | 1e309 | 0 | a finite number, not Infinity",
        "1e309 | none | 0 | a finite number, not Infinity",
        "-0.5 | none | -0.5 | ''",
        "none | 30 | 30 | ''",
        "{\"reward\": 1.5} | none | 1.5 | ''",
        "{\"a\": 1, \"speed\": 30} | none | 0 | numbers from 0 to 1",
        "{\"reward\": \"1\"} | none | 0 | no number",
        "{\"reward\": 1 | none | 0 | no number"
      })
  void reward_ofFiles_isTheirNumberOrZeroWithAReason(
      String json, String txt, double reward, String reason) {
    HarborReward read =
        HarborReward.of(
            Map.of("reward.json", json == null ? "" : json, "reward.txt", txt == null ? "" : txt));
    assertThat(read.reward()).isEqualTo(reward);
    assertThat(read.reason()).contains(reason);
  }
}
