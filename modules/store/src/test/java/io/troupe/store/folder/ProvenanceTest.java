package io.troupe.store.folder;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProvenanceTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir private Path folder;

  private static GitState state(Path folder) {
    return new GitProgram(List.of("git"), folder, LONG).state();
  }

  private void git(String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of("git", "-C", folder.toString(), "-c", "user.name=t", "-c", "user.email=t@t"));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(process.waitFor()).isZero();
  }

  @Test
  void state_workTree_hasCommitBranchAndDiff() throws Exception {
    git("init", "-q", "-b", "main");
    Files.writeString(folder.resolve("a.txt"), "one\n");
    git("add", ".");
    git("commit", "-q", "-m", "first");
    assertThat(state(folder))
        .isInstanceOfSatisfying(
            GitState.WorkTree.class,
            tree -> {
              assertThat(tree.commit()).matches("[0-9a-f]{40}");
              assertThat(tree.branch()).isEqualTo("main");
              assertThat(tree.dirty()).isFalse();
              assertThat(tree.diff()).isEmpty();
            });
    Files.writeString(folder.resolve("a.txt"), "two\n");
    assertThat(state(folder))
        .isInstanceOfSatisfying(
            GitState.WorkTree.class,
            tree -> {
              assertThat(tree.dirty()).isTrue();
              assertThat(tree.diff()).contains("-one\n", "+two\n");
              assertThat(tree.diffCut()).isFalse();
            });
  }

  @Test
  void state_noRepository_isAbsentWithReason() {
    assertThat(state(folder))
        .isInstanceOfSatisfying(
            GitState.Absent.class,
            absent -> assertThat(absent.reason()).contains("not a git repository"));
  }

  @Test
  void state_noCommitYet_isAbsentWithReason() throws Exception {
    git("init", "-q");
    assertThat(state(folder)).isInstanceOf(GitState.Absent.class);
  }

  @Test
  void state_noGitProgram_isAbsentWithReason() {
    assertThat(new GitProgram(List.of("no-such-git-program"), folder, LONG).state())
        .isInstanceOfSatisfying(
            GitState.Absent.class,
            absent -> assertThat(absent.reason()).contains("no-such-git-program"));
  }

  @Test
  void state_gitHangs_isAbsentAfterTheDeadline() throws IOException {
    Path hanging = folder.resolve("git");
    Files.writeString(hanging, "#!/bin/sh\nexec sleep 60\n");
    Files.setPosixFilePermissions(hanging, PosixFilePermissions.fromString("rwx------"));
    assertThat(new GitProgram(List.of(hanging.toString()), folder, Duration.ofMillis(50)).state())
        .isEqualTo(new GitState.Absent("git rev-parse did not answer within 50 ms"));
  }

  @Test
  void collect_here_knowsTheMachineAndHidesSecrets() {
    Provenance provenance =
        Provenance.collect(
            "0.1.0",
            Instant.parse("2026-11-21T14:02:11Z"),
            folder,
            List.of(
                "train",
                "--set",
                "console.token=abc",
                "--set",
                "rollout.max_tokens=64",
                "--token",
                "abc",
                "--api-key=abc",
                "conf/x.yaml"),
            Map.of("run", 17L));
    assertThat(provenance.commandLine())
        .containsExactly(
            "train",
            "--set",
            "console.token=***",
            "--set",
            "rollout.max_tokens=64",
            "--token",
            "***",
            "--api-key=***",
            "conf/x.yaml");
    assertThat(provenance.gitDiff()).isEmpty();
    Map<String, Object> map = provenance.toMap();
    assertThat(map)
        .containsEntry("troupe", "0.1.0")
        .containsEntry("started", "2026-11-21T14:02:11Z")
        .containsEntry("pid", ProcessHandle.current().pid())
        .containsEntry("seeds", Map.of("run", 17L));
    assertThat(map.keySet())
        .containsExactly(
            "troupe",
            "started",
            "host",
            "pid",
            "jdk",
            "os",
            "cores",
            "memory_bytes",
            "heap_bytes",
            "git",
            "command_line",
            "seeds");
    assertThat(provenance.memoryBytes()).isPositive();
  }
}
