package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code troupe eval --cluster}: the rollout workers of a run that trains sample an evaluation, and
 * its files are those of an evaluation in one process.
 */
@EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
final class ClusterEvalTest {
  private static final String TASKS =
      """
      seed: 3
      tasks:
        - name: sums
          datasets: [{name: arithmetic, min: 0, max: 4}]
          samples: 512
          temperature: 1
          max_tokens: 3
        - name: greedy
          datasets: [{name: arithmetic, min: 0, max: 4}]
          max_tokens: 3
      """;

  @TempDir private Path folder;

  private String[] eval(RunFolder run, String name, String... more) throws IOException {
    Path tasks = Files.writeString(folder.resolve("tasks.yaml"), TASKS);
    List<String> arguments =
        new ArrayList<>(List.of("eval", run.name() + "@v2", tasks.toString(), "-o", name));
    arguments.addAll(List.of(more));
    return arguments.toArray(String[]::new);
  }

  private void finish(String... arguments) throws IOException {
    try (ChildRun eval = ChildRun.start(folder, ChildRun.Size.TOY, arguments)) {
      assertThat(eval.awaitExit()).as(eval.said()).isZero();
    }
  }

  private List<String> files(String name) throws IOException {
    List<String> contents = new ArrayList<>();
    for (String file : List.of("prompts.jsonl", "completions.jsonl", "results.jsonl")) {
      contents.add(Files.readString(folder.resolve(name).resolve(file)));
    }
    String summary = Files.readString(folder.resolve(name).resolve("summary.json"));
    contents.add(summary.replaceAll("\"(started|ended|seconds)\" : [^\\n]*", ""));
    return contents;
  }

  private long lines(String name) throws IOException {
    Path results = folder.resolve(name).resolve("results.jsonl");
    return Files.exists(results) ? Files.readString(results).lines().count() : 0;
  }

  /**
   * One worker is killed with its chunk half done; a second evaluation is killed itself, and
   * continues. The run's account adds up all the same.
   */
  @Test
  void eval_byWorkersOfWhichOneIsKilled_isByteForByteThatOfOneProcess() throws Exception {
    TestCluster cluster =
        new TestCluster(folder, TestCluster.RUN.replace("every: 2", "every: 2\n  keep: 100000"));
    try (ChildRun coordinator = cluster.coordinator(ChildRun.Place.HERE)) {
      String seed = TestCluster.seed(coordinator);
      try (ChildRun node =
          TestCluster.nodeIn(folder.resolve("host"), "a", "127.0.0.1", seed, "--workers", "2")) {
        TestCluster.await(
            coordinator,
            "a checkpoint of v2",
            () -> Files.isDirectory(cluster.run().checkpoints().resolve("step2")));
        RunFolder run = cluster.run();
        finish(eval(run, "here"));

        try (ChildRun eval =
            ChildRun.start(folder, ChildRun.Size.TOY, eval(run, "killed", "--cluster", seed))) {
          TestCluster.await(eval, "some results", () -> lines("killed") > 1_000);
          TestCluster.child(node, "a-w1").destroyForcibly();
          assertThat(eval.awaitExit()).as(eval.said()).isZero();
          assertThat(eval.err()).anyMatch(line -> line.endsWith(" is gone"));
        }
        assertThat(files("killed")).isEqualTo(files("here"));

        try (ChildRun eval =
            ChildRun.start(folder, ChildRun.Size.TOY, eval(run, "resumed", "--cluster", seed))) {
          TestCluster.await(eval, "some results", () -> lines("resumed") > 1_000);
          eval.kill();
        }
        finish(eval(run, "resumed", "--cluster", seed, "--resume"));
        assertThat(files("resumed")).isEqualTo(files("here"));

        int before = cluster.events().size();
        cluster.awaitStep(coordinator, before);
        cluster.end(
            node, () -> ProcessHandle.of(coordinator.pid()).orElseThrow().destroy(), before, false);
      }
    }
  }
}
