package io.troupe.launch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Batch scripts, run by bash with scripts in the place of Slurm's programs. */
final class SlurmScriptTest {
  @TempDir private Path folder;

  private SlurmScript script(int nodes, int seeds) {
    return new SlurmScript(
        "troupe-toy",
        folder.resolve("troupe").toString(),
        folder.toString(),
        "conf/my toy.yaml",
        new SlurmScript.Shape(nodes, 8, seeds, ""),
        new SlurmScript.Limits("1:00:00", Duration.ofMinutes(5)),
        List.of("--partition=gpu"),
        List.of("training.steps=9"));
  }

  private void program(String name, String body) throws IOException {
    Path file = folder.resolve(name);
    Files.writeString(file, "#!/bin/bash\n" + body);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  /** Slurm: srun runs its command once, and passes SIGTERM on. */
  private Process start(SlurmScript script) throws IOException {
    program(
        "srun",
        """
        while [[ $1 == --* ]]; do shift; done
        "$@" &
        child=$!
        trap 'kill -TERM $child' TERM
        wait $child; wait $child
        exit $?
        """);
    program(
        "scontrol", "if [ $1 = show ]; then echo host1; echo host2; else echo $@ >> control; fi\n");
    Path file = folder.resolve("job.sbatch");
    Files.writeString(file, script.text());
    ProcessBuilder bash =
        new ProcessBuilder("bash", file.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("out").toFile());
    bash.environment().put("PATH", folder + ":" + System.getenv("PATH"));
    bash.environment().put("SLURM_JOB_ID", "17");
    bash.environment().put("SLURM_ARRAY_TASK_ID", "2");
    bash.environment().put("SLURM_JOB_NODELIST", "host[1-2]");
    bash.environment().put("SLURMD_NODENAME", "host1");
    return bash.start();
  }

  private String said() throws IOException {
    return Files.exists(folder.resolve("said")) ? Files.readString(folder.resolve("said")) : "";
  }

  private int await(Process job) throws InterruptedException, IOException {
    assertThat(job.waitFor(30, TimeUnit.SECONDS))
        .as(new String(Files.readAllBytes(folder.resolve("out")), UTF_8))
        .isTrue();
    return job.exitValue();
  }

  @Test
  void text_twoNodes_asksForWhatARunNeeds() {
    assertThat(script(2, 4).text())
        .contains("#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=8\n")
        .contains("#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --signal=B:USR1@300\n")
        .contains("#SBATCH --array=0-3\n#SBATCH --partition=gpu\n")
        .contains(
            "train=(train 'conf/my toy.yaml' --continue --set training.steps=9 --set run.seed=$((1 + SLURM_ARRAY_TASK_ID))");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void job_isWarned_savesOnceAndIsQueuedAgain(int nodes) throws Exception {
    program(
        "troupe",
        """
        if [ $1 = node ]; then trap 'echo node-ends >> said; exit 0' TERM
        else trap 'sleep 0.3; echo saved >> said; exit 143' TERM; fi
        echo "$@" >> said
        while :; do sleep 0.05; done
        """);
    Process job = start(script(nodes, 1));
    Await.until(
        "all parts",
        () ->
            said().contains("train conf/my toy.yaml --continue")
                && (nodes == 1 || said().contains("node --name")));
    Await.until("the trap", () -> signalled(job));
    assertThat(await(job)).isZero();
    assertThat(folder.resolve("control")).content().isEqualTo("requeue 17\n");
    List<String> lines = said().lines().toList();
    assertThat(lines).containsOnlyOnce("saved");
    if (nodes == 2) {
      assertThat(lines)
          .anyMatch(line -> line.startsWith("node --name host1 --address host1 --seed host1:7400"));
      assertThat(lines)
          .anyMatch(
              line -> line.endsWith("--cluster --address host1 --port 7400 --allow-plain-tcp"));
      assertThat(lines.indexOf("node-ends"))
          .as("nodes outlive the checkpoint")
          .isGreaterThan(lines.indexOf("saved"));
    }
  }

  /** Sends the warning; again, until the run has saved, because Slurm sends it late enough. */
  private boolean signalled(Process job) throws IOException {
    try {
      new ProcessBuilder("kill", "-USR1", Long.toString(job.pid())).start().waitFor();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    return said().contains("saved") || !job.isAlive();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2, 4})
  void job_runEnds_hasItsExitCodeAndIsNotQueuedAgain(int code) throws Exception {
    program("troupe", "exit " + code + "\n");
    assertThat(await(start(script(1, 1)))).isEqualTo(code);
    assertThat(folder.resolve("control")).doesNotExist();
  }
}
