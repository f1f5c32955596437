package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs whose rollouts are sampled by servers in processes of their own. */
@Timeout(value = 1200, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SidecarRunTest {
  private static final String RUN =
      """
      run:
        seed: 1
      task:
        name: arithmetic
        min: 0
        max: 9
        held_out_share: 0.2
      policy:
        engine: toy
        context_length: 16
        token_delay: 1ms
      rollout:
        workers: 0
        completions_per_prompt: 8
        max_tokens: 3
        max_concurrent_groups: 16
        groups_per_request: 8
        sidecars:
          count: 2
          heap: 128
      training:
        steps: 200
        groups_per_step: 8
        max_staleness: 1
        learning_rate: 0.2
      evaluation:
        every: 5
        prompts: 20
        target: 0.6
      checkpoint:
        every: 20
      """;

  @Test
  void train_sidecarKilledInTheMiddle_reachesTheTargetOverHttpAlone(@TempDir Path folder)
      throws Exception {
    Path file = Files.writeString(folder.resolve("sidecars.yaml"), RUN);
    try (ChildRun run =
        ChildRun.start(folder, ChildRun.Size.TOY, "train", file.toString(), "--json")) {
      Path card = awaitCard(folder, "sidecar-1.pid");
      run.awaitOut(3); // the target is not looked at before the fifth step
      long pid = Long.parseLong(Files.readString(card).strip().split(" ", 2)[0]);
      assertThat(ProcessHandle.of(pid).orElseThrow().destroyForcibly()).isTrue();
      assertThat(run.awaitExit()).as(run.said()).isZero();
      assertThat(String.join("\n", run.err())).contains("done   step", "refused=none");
    }
    assertThat(cards(folder)).isEmpty();
  }

  private static Path servers(Path folder) throws IOException {
    Path runs = folder.resolve("runs");
    return runs.resolve(RunFolder.list(runs).getFirst())
        .resolve("servers"); // begun, maybe not whole
  }

  private static List<Path> cards(Path folder) throws IOException {
    try (var files = Files.list(servers(folder))) {
      return files.filter(file -> file.toString().endsWith(".pid")).toList();
    }
  }

  private static Path awaitCard(Path folder, String name) throws IOException {
    return Await.found(
        name,
        () ->
            Files.isDirectory(folder.resolve("runs"))
                    && !RunFolder.list(folder.resolve("runs")).isEmpty()
                    && Files.exists(servers(folder).resolve(name))
                ? Optional.of(servers(folder).resolve(name))
                : Optional.empty());
  }
}
