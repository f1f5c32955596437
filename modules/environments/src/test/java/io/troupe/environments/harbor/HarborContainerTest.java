package io.troupe.environments.harbor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.rollout.ToolRun;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.box.BoxProvider;
import io.troupe.environments.box.BoxSettings;
import io.troupe.environments.box.BoxTool;
import io.troupe.environments.box.Submission;
import io.troupe.environments.box.TestBoxes;
import io.troupe.environments.container.ContainerChoice;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks with images, on a program in docker's place that runs what it is given in folders. */
class HarborContainerTest {
  private static final String TESTS =
      """
      [ "$(cat answer.txt)" = "$WANTED" ] && reward=1 || reward=0
      echo $reward > /logs/verifier/reward.txt
      """;

  @TempDir private Path folder;
  @TempDir private Path state;
  private ContainerChoice containers;

  @BeforeEach
  void write() throws IOException {
    Path program = state.resolve("docker");
    try (InputStream script = HarborContainerTest.class.getResourceAsStream("docker.sh")) {
      Files.write(program, Objects.requireNonNull(script).readAllBytes());
    }
    assertThat(program.toFile().setExecutable(true)).isTrue();
    containers = new ContainerChoice(program.toString());
    write("instruction.md", "Write 4 to answer.txt.\n");
    write("tests/test.sh", TESTS);
    write(
        "task.toml",
        """
        [environment]
        docker_image = "calc:1"
        workdir = "/opt/calc"
        cpus = 2
        memory_mb = 768
        [verifier]
        env = {WANTED = "4"}
        """);
    Files.writeString(state.resolve("images"), "calc:1\n");
  }

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private static EnvironmentPool pool(HarborTask task) {
    return pool(task, Duration.ofSeconds(20));
  }

  private static EnvironmentPool pool(HarborTask task, Duration timeout) {
    return new BoxProvider(
            BoxSettings.standard().withTimeout(timeout),
            EnumSet.allOf(BoxTool.class),
            _ -> task.box())
        .open();
  }

  private Environment opened(EnvironmentPool pool) {
    Environment box = pool.newEnvironment();
    box.reset(new Prompt(new PromptId("t"), "s", "?", folder.toString(), ""), 1);
    return box;
  }

  private static ToolResult step(Environment box, String tool, String... arguments) {
    var node = JsonNodeFactory.instance.objectNode();
    for (int i = 0; i < arguments.length; i += 2) {
      node.put(arguments[i], arguments[i + 1]);
    }
    return box.step(new ToolCall(tool, node.toString(), ToolCall.Status.OK));
  }

  private static HarborReward grade(HarborTask task, String submission) {
    try (HarborGrader grader = new HarborGrader(new TestBoxes(BoxSettings.standard()))) {
      return grader.grade(task, Submission.parse(submission));
    }
  }

  private List<String> log() throws IOException {
    return Files.readAllLines(state.resolve("log")).stream()
        .map(line -> line.replaceAll("troupe-box-\\d+-\\d+-\\d+", "BOX"))
        .map(line -> line.replaceAll("label=io.troupe.box=\\S+", "label=HOST"))
        .map(line -> line.replaceAll("label io.troupe.box=\\S+", "label HOST"))
        .toList();
  }

  @Test
  void episode_ofAnImage_runsAndIsGradedInContainersOfItsOwn() throws IOException {
    HarborTask task = HarborTask.read(folder, containers);
    String submission;
    try (EnvironmentPool pool = pool(task);
        Environment box = opened(pool)) {
      assertThat(step(box, "shell", "command", "x=2; pwd").text()).isEqualTo("/opt/calc");
      assertThat(step(box, "shell", "command", "echo \"it's $x\"; false"))
          .isEqualTo(new ToolResult("it's 2", 1, ToolRun.Outcome.RAN, false));
      assertThat(step(box, "python", "code", "n = 2 + 2\nn").text()).isEqualTo("4");
      step(box, "python", "code", "print(n, file=open('answer.txt', 'w'))");
      step(box, "write_file", "path", "sub/a", "text", "it's");
      assertThat(step(box, "read_file", "path", "sub/a").text()).isEqualTo("it's");
      assertThat(step(box, "list_files", "path", "").text()).contains("./sub/a", "./answer.txt");
      step(box, "shell", "command", "ln -s /tests link; rm -f no");
      submission = box.submission();
    }
    assertThat(Submission.parse(submission).files())
        .extracting(file -> file.path())
        .containsExactlyInAnyOrder("/opt/calc/answer.txt", "/opt/calc/sub/a");
    assertThat(Submission.parse(submission).left())
        .containsExactly("/opt/calc/link is a link, or no regular file");
    assertThat(grade(task, submission)).isEqualTo(new HarborReward(1, ""));
    String run =
        "run --interactive --name BOX --label HOST --network none --pull never --cap-drop ALL"
            + " --cap-add CHOWN --cap-add DAC_OVERRIDE --cap-add FOWNER --security-opt"
            + " no-new-privileges --cpus 2.00 --memory 805306368 --memory-swap 805306368"
            + " --pids-limit 32 --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --ulimit"
            + " core=0:0 --entrypoint cat calc:1";
    List<String> log = log();
    assertThat(log).filteredOn(line -> line.startsWith("run")).containsExactly(run, run);
    assertThat(log)
        .filteredOn(line -> !line.startsWith("exec --interactive"))
        .containsSubsequence(
            "ps --all --filter label=HOST --format \\{\\{.Names\\}\\}",
            "images --quiet calc:1",
            run,
            "exec BOX mkdir -p -- /logs/agent /logs/artifacts /opt/calc",
            "kill BOX",
            "diff BOX",
            "cp BOX:/opt/calc -",
            "rm --force BOX",
            run,
            "cp - BOX:/",
            "top BOX",
            "kill BOX",
            "diff BOX",
            "cp BOX:/logs/verifier -",
            "rm --force BOX");
    String agent = String.join("\n", log.subList(0, log.lastIndexOf(run)));
    assertThat(agent).doesNotContain("/tests").doesNotContain("cp - ").doesNotContain("verifier");
    assertThat(state.resolve("root")).isEmptyDirectory();
  }

  @Test
  void step_beyondItsTime_endsWhatRunsAndKeepsFiles() throws IOException {
    HarborTask task = HarborTask.read(folder, containers);
    try (EnvironmentPool pool = pool(task, Duration.ofMillis(1500));
        Environment box = opened(pool)) {
      ToolResult late = step(box, "shell", "command", "touch kept; echo begun; sleep 100");
      assertThat(late.outcome()).isEqualTo(ToolRun.Outcome.KILLED);
      assertThat(late.text())
          .isEqualTo("begun\n[ended after 1.5 s, with all that ran; files are left]");
      assertThat(step(box, "shell", "command", "ls").text()).isEqualTo("kept");
      assertThat(step(box, "shell", "command", "exit 3").text())
          .isEqualTo("[the session ended, and what it kept is gone]");
      assertThat(step(box, "shell", "command", "ls").text()).isEqualTo("kept");
    }
    assertThat(log()).contains("exec BOX sh -c kill\\ -9\\ -1\\ \\|\\|\\ :");
  }

  @Test
  void container_thatEnds_isLostWork() throws IOException {
    HarborTask task = HarborTask.read(folder, containers);
    try (EnvironmentPool pool = pool(task);
        Environment box = opened(pool)) {
      step(box, "shell", "command", "echo 4 > answer.txt");
      killContainer();
      assertThatThrownBy(() -> step(box, "shell", "command", "exit"))
          .isInstanceOf(EnvironmentFailedException.class)
          .hasMessageContaining("a container ended");
      assertThatThrownBy(() -> step(box, "read_file", "path", "none"))
          .isInstanceOf(EnvironmentFailedException.class);
      assertThatThrownBy(box::submission).isInstanceOf(EnvironmentFailedException.class);
    }
  }

  private void killContainer() throws IOException {
    try (var files = Files.list(state)) {
      for (Path each : files.filter(f -> f.getFileName().toString().startsWith("pid-")).toList()) {
        long pid = Long.parseLong(Files.readString(each).strip());
        ProcessHandle cat = ProcessHandle.of(pid).orElseThrow();
        cat.destroyForcibly();
        cat.onExit().join();
      }
    }
  }

  @Test
  void engine_thatGoesAway_isLostWorkOfTheTestsToo() throws IOException {
    HarborTask task = HarborTask.read(folder, containers);
    Files.createFile(state.resolve("away"));
    assertThatThrownBy(() -> grade(task, Submission.NOTHING.text()))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("Cannot connect to the Docker daemon");
    try (EnvironmentPool pool = pool(task)) {
      assertThatThrownBy(() -> opened(pool)).isInstanceOf(EnvironmentFailedException.class);
    }
  }

  @Test
  void image_thatIsMissing_isNeverPulled() throws IOException {
    Files.writeString(state.resolve("images"), "");
    HarborTask task = HarborTask.read(folder, containers);
    assertThatThrownBy(() -> grade(task, Submission.NOTHING.text()))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("has no image calc:1")
        .hasMessageContaining("docker pull calc:1");
    assertThat(log()).noneMatch(line -> line.startsWith("run"));
  }

  @Test
  void dockerfile_isBuiltOnceForItsContent() throws IOException {
    write("task.toml", "");
    write("environment/Dockerfile", "FROM x\nWORKDIR /w\nRUN make\n");
    HarborTask task = HarborTask.read(folder, containers);
    assertThat(task.box().contents().folder()).isEqualTo("/w");
    Files.createFile(state.resolve("broken"));
    assertThatThrownBy(() -> grade(task, Submission.NOTHING.text()))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("build ended with exit code 2: step 2: no gcc");
    Files.delete(state.resolve("broken"));
    grade(task, Submission.NOTHING.text());
    grade(task, Submission.NOTHING.text());
    assertThat(log()).filteredOn(line -> line.startsWith("build")).hasSize(2);
    write("environment/Makefile", "all:\n");
    grade(task, Submission.NOTHING.text());
    assertThat(log())
        .filteredOn(line -> line.startsWith("build"))
        .hasSize(3)
        .allMatch(
            line ->
                line.matches("build --tag troupe-task:[0-9a-f]{32} " + folder + "/environment"));
  }

  @Test
  void grade_whatTestsLeave_isZeroWithAReason() throws IOException {
    write("tests/test.sh", "echo 1 > /logs/verifier/reward.txt; kill -9 $$\n");
    assertThat(grade(HarborTask.read(folder, containers), Submission.NOTHING.text()))
        .isEqualTo(new HarborReward(0, "signal 9 ended the tests"));
    write("tests/test.sh", "rm -r /logs/verifier\n");
    assertThat(grade(HarborTask.read(folder, containers), Submission.NOTHING.text()).reason())
        .contains("was replaced");
    write("tests/test.sh", "ln -s /tests/test.sh /logs/verifier/reward.txt\n");
    assertThat(grade(HarborTask.read(folder, containers), Submission.NOTHING.text()).reason())
        .contains("no file that tests can write");
    write("tests/test.sh", "echo 1 > /logs/verifier/reward.txt\n");
    Files.writeString(state.resolve("outlived"), "7\n");
    assertThat(grade(HarborTask.read(folder, containers), Submission.NOTHING.text()))
        .isEqualTo(new HarborReward(0, "a process has outlived the program that started it"));
  }

  @Test
  void submission_tooLarge_isRefusedAndDeletionsAreHandedIn() throws IOException {
    Files.writeString(state.resolve("deleted"), "D /opt/calc/old\nD /usr/old\n");
    HarborTask task = HarborTask.read(folder, containers);
    try (EnvironmentPool pool = pool(task)) {
      try (Environment box = opened(pool)) {
        step(box, "shell", "command", "true");
        String submission = box.submission();
        assertThat(Submission.parse(submission).removed()).containsExactly("/opt/calc/old");
        grade(task, submission);
        assertThat(log()).contains("exec BOX rm -rf -- /opt/calc/old");
      }
      try (Environment box = opened(pool)) {
        step(box, "shell", "command", "head -c 3000000 /dev/zero > big");
        assertThat(Submission.parse(box.submission()).refused()).contains("more than 2097152");
      }
    }
  }

  @Test
  void engine_thatIsFound_removesWhatEndedProcessesLeft() throws IOException {
    long self = ProcessHandle.current().pid();
    long start = ProcessHandle.current().info().startInstant().orElseThrow().toEpochMilli();
    String own = "troupe-box-%d-%d-1".formatted(self, start);
    String dead = "troupe-box-%d-%d-1".formatted(self, start - 1000);
    Files.writeString(state.resolve("ps"), own + "\n" + dead + "\nother\n");
    HarborTask.read(folder, containers);
    assertThat(Files.readAllLines(state.resolve("log"))).hasSize(2).contains("rm --force " + dead);
  }

  @Test
  void read_imageWithoutAnEngine_isRefusedByFileAndLine() throws IOException {
    assertThatThrownBy(() -> HarborTask.read(folder, new ContainerChoice("none")))
        .isInstanceOf(HarborException.class)
        .hasMessageContaining(folder.resolve("task.toml") + ": line 2: environment.docker_image")
        .hasMessageContaining("TROUPE_CONTAINERS=none allows none");
    Files.createFile(state.resolve("away"));
    assertThatThrownBy(() -> HarborTask.read(folder, containers))
        .isInstanceOf(HarborException.class)
        .hasMessageContaining("Cannot connect to the Docker daemon")
        .hasMessageContaining("install docker or podman, start its service");
    assertThatThrownBy(() -> HarborTask.read(folder, new ContainerChoice("no-such-engine")))
        .hasMessageContaining("no-such-engine is not on the PATH");
  }
}
