package io.troupe.engine.http.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ChildLog;
import io.troupe.base.process.JavaCommand;
import io.troupe.base.process.ProcessIdentity;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ProcessTreeTest {
  @TempDir private Path folder;

  /** A shell whose grandchild writes its pid and lives on. */
  private ProcessTree start() throws IOException {
    return start(folder, "sleep 300");
  }

  private static ProcessTree start(Path folder, String grandchild) throws IOException {
    return run(folder, grandchild + " & echo $! > grandchild; wait");
  }

  private static ProcessTree run(Path folder, String script) throws IOException {
    return ProcessTree.start(
        new ServerCommand(List.of("sh", "-c", "cd '%s'; %s".formatted(folder, script)), Map.of()),
        folder.resolve("log"),
        folder.resolve("card"));
  }

  private long grandchild() throws IOException {
    Path file = folder.resolve("grandchild");
    Await.until("a grandchild", () -> Files.exists(file) && !Files.readString(file).isBlank());
    return Long.parseLong(Files.readString(file).strip());
  }

  private static boolean runs(long pid) {
    return ProcessHandle.of(pid).filter(ProcessIdentity::runs).isPresent();
  }

  @Test
  void end_childWithGrandchild_endsBoth() throws Exception {
    ProcessTree tree = start();
    long grandchild = grandchild();
    tree.end();
    assertThat(runs(tree.pid())).isFalse();
    assertThat(runs(grandchild)).isFalse();
    assertThat(folder.resolve("card")).doesNotExist();
  }

  /** Its last words are there once it is ended, and a flood before them takes no more than that. */
  @Test
  void end_childThatPrintedMoreThanALogTakes_hasABoundedLogWithItsLastWords() throws Exception {
    ProcessTree tree =
        run(
            folder,
            "head -c %d /dev/zero; echo; echo last words; touch done; sleep 300"
                .formatted(ChildLog.MOST_BYTES + 1));
    Await.until("a child that is not held up", () -> Files.exists(folder.resolve("done")));
    assertThat(tree.alive()).isTrue();
    tree.end();
    long bytes = 0;
    for (String name : List.of("log", "log.1", "log.2", "log.3")) {
      bytes += Files.size(folder.resolve(name));
    }
    assertThat(bytes).isLessThanOrEqualTo(ChildLog.MOST_BYTES);
    assertThat(Files.readString(folder.resolve("log"))).endsWith("\nlast words\n");
    assertThat(folder.resolve("log.4")).doesNotExist();
  }

  @Test
  void endLeftOver_childOfADeadProcess_isFoundByPidAndStart() throws Exception {
    ProcessTree tree = start();
    long grandchild = grandchild();
    ProcessTree.endLeftOver(folder.resolve("card"), true);
    assertThat(runs(tree.pid())).isFalse();
    assertThat(runs(grandchild)).isFalse();
  }

  /** Starts a server and is killed. */
  static final class Owner {
    public static void main(String[] words) throws Exception {
      start(Path.of(words[0]), "sleep 300");
      Thread.currentThread().join();
    }
  }

  @Test
  void kill_ofTheOwner_endsChildAndGrandchild() throws Exception {
    Process owner =
        JavaCommand.of(Owner.class)
            .heap(32)
            .with("-XX:TieredStopAtLevel=1")
            .process(List.of(folder.toString()))
            .inheritIO()
            .start();
    ProcessHandle grandchild = ProcessHandle.of(grandchild()).orElseThrow();
    owner.destroyForcibly().waitFor();
    Await.until("the grandchild ends", () -> !ProcessIdentity.runs(grandchild));
  }

  /** The server itself is dead, and what came of it has left its group. */
  @Test
  void endLeftOver_childDeadAndGrandchildAlive_endsTheGrandchild() throws Exception {
    // It writes its pid once it has left: before, it would end with the group.
    ProcessTree tree = run(folder, "setsid sh -c 'echo $$ > grandchild; exec sleep 300' & wait");
    ProcessHandle grandchild = ProcessHandle.of(grandchild()).orElseThrow();
    tree.look();
    Path card = Files.copy(folder.resolve("card"), folder.resolve("copied.pid"));
    ProcessHandle leader = ProcessHandle.of(tree.pid()).orElseThrow();
    leader.destroyForcibly();
    leader.onExit().join();
    assertThat(runs(grandchild.pid())).isTrue();
    Sidecars.endAbandoned(folder);
    assertThat(runs(grandchild.pid())).as("its owner, this process, runs").isTrue();
    ProcessTree.endLeftOver(card, true);
    assertThat(runs(grandchild.pid())).isFalse();
    assertThat(card).doesNotExist();
  }

  @Test
  void endLeftOver_samePidOfAnotherStart_isLeftAlone() throws Exception {
    ProcessTree tree = start();
    Path forged =
        Files.writeString(folder.resolve("forged"), "%d %d LEADER%n".formatted(tree.pid(), 12345));
    ProcessTree.endLeftOver(forged, true);
    assertThat(tree.alive()).isTrue();
    assertThat(forged).doesNotExist();
    tree.end();
  }
}
