package io.troupe.engine.http.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.foreign.ProcessEnvironment;
import io.troupe.base.process.ChildLog;
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
class ServerProcessTest {
  @TempDir private Path folder;

  /** A shell whose grandchild writes its pid and lives on. */
  private ServerProcess start() throws IOException {
    return start(folder, "sleep 300");
  }

  private static ServerProcess start(Path folder, String grandchild) throws IOException {
    return run(folder, grandchild + " & echo $! > grandchild; wait");
  }

  private static ServerProcess run(Path folder, String script) throws IOException {
    return ServerProcess.start(
        new ServerCommand(List.of("sh", "-c", "cd '%s'; %s".formatted(folder, script)), Map.of()),
        folder.resolve("log"));
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
    ServerProcess tree = start();
    long grandchild = grandchild();
    tree.end();
    assertThat(runs(tree.pid())).isFalse();
    assertThat(runs(grandchild)).isFalse();
  }

  /** Troupe's variables for its own PyTorch, such as segments that grow, do not reach vLLM. */
  @Test
  void start_variableThatOnlyALibraryOfThisProcessReads_isNotInherited() throws Exception {
    assertThat(System.getenv("PATH")).isNotEmpty();
    ProcessEnvironment.set("TROUPE_SERVER_PROCESS_TEST", "here");
    ServerProcess server = run(folder, "env > seen; touch done; sleep 300");
    Await.until("the server's environment", () -> Files.exists(folder.resolve("done")));
    server.end();
    assertThat(Files.readString(folder.resolve("seen")))
        .contains("PATH=" + System.getenv("PATH"))
        .doesNotContain("TROUPE_SERVER_PROCESS_TEST");
  }

  /** The last output is there after the end, and a flood before it takes no more than that. */
  @Test
  void end_childThatPrintedMoreThanALogTakes_hasABoundedLogWithItsLastWords() throws Exception {
    ServerProcess tree =
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

  /** The server itself is dead, and a process that it has started has left its session. */
  @Test
  void end_childDeadAndGrandchildInASessionOfItsOwn_endsTheGrandchild() throws Exception {
    // It writes its pid once it has left: before, it would end with the session.
    ServerProcess server =
        run(folder, "setsid sh -c 'echo $$ > grandchild; exec sleep 300' & wait");
    ProcessHandle grandchild = ProcessHandle.of(grandchild()).orElseThrow();
    ProcessHandle leader = ProcessHandle.of(server.pid()).orElseThrow();
    leader.destroyForcibly();
    leader.onExit().join();
    assertThat(runs(grandchild.pid())).isTrue();
    server.end();
    assertThat(runs(grandchild.pid())).isFalse();
  }
}
