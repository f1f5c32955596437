package io.troupe.base.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real processes, and real kills. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ProcessGroupTest {
  /** Starts one process below itself, one in a session of its own, and one that nobody adopts. */
  private static final String FAMILY =
      """
      sleep 300 & echo $! > below
      setsid sh -c 'echo $$ > apart; exec sleep 300' &
      (setsid sh -c 'echo $$ > orphan; exec sleep 300' &)
      wait
      """;

  @TempDir private Path folder;

  private static ProcessGroup start(Path folder, String script) throws IOException {
    return ProcessGroup.start(
        new ProcessBuilder("sh", "-c", script)
            .directory(folder.toFile())
            .redirectErrorStream(true));
  }

  private ProcessHandle process(String name) throws IOException {
    Path file = folder.resolve(name);
    Await.until(name, () -> Files.exists(file) && !Files.readString(file).isBlank());
    return ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
  }

  private List<ProcessHandle> family() throws IOException {
    return List.of(process("below"), process("apart"), process("orphan"));
  }

  private static void awaitEnd(List<ProcessHandle> processes) {
    Await.until("all end", () -> processes.stream().noneMatch(ProcessIdentity::runs));
  }

  @Test
  void kill_processesBelowApartAndOrphaned_endsAll() throws Exception {
    ProcessGroup group = start(folder, FAMILY);
    List<ProcessHandle> family = family();
    assertThat(group.members()).containsAll(family).contains(group.leader().toHandle());
    group.kill();
    awaitEnd(family);
    assertThat(group.leader().waitFor()).isEqualTo(ExitCode.ofSignal(9));
    assertThat(group.members()).noneMatch(ProcessIdentity::runs);
  }

  @Test
  void kill_leaderEndedBefore_endsTheOthers() throws Exception {
    ProcessGroup group = start(folder, FAMILY.replace("wait", "exit 3"));
    assertThat(group.leader().waitFor()).isEqualTo(3);
    List<ProcessHandle> family = family();
    assertThat(family).allMatch(ProcessIdentity::runs);
    group.kill();
    awaitEnd(family);
  }

  /** A process that only the session shows: its environment is empty, and its parent has ended. */
  @Test
  void kill_processWithoutAMark_endsItWithTheSession() throws Exception {
    ProcessGroup group =
        start(folder, "(env -i sh -c 'echo $$ > bare; exec sleep 300' &); read -r line");
    ProcessHandle bare = process("bare");
    group.kill();
    awaitEnd(List.of(bare));
  }

  @Test
  void start_child_leadsASessionSoThatTheTerminalsSignalsPassItBy() throws Exception {
    try (ProcessGroup group = start(folder, "cut -d' ' -f6 /proc/self/stat")) {
      assertThat(new String(group.output().readAllBytes(), UTF_8).strip())
          .isEqualTo(Long.toString(group.leader().pid()));
    }
  }

  @Test
  void signal_child_getsIt() throws Exception {
    try (ProcessGroup group =
        start(folder, "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")) {
      assertThat(group.output().read()).isEqualTo('r');
      group.signal(Signals.SIGTERM);
      assertThat(group.leader().waitFor()).isEqualTo(7);
    }
  }

  /** Starts a family, itself or by a JVM below it, and waits to be killed. */
  static final class Owner {
    public static void main(String[] words) throws Exception {
      Path folder = Path.of(words[0]);
      if (words.length == 1) {
        start(folder, FAMILY);
      } else {
        ProcessGroup.start(owner(List.of(words[0])).inheritIO());
      }
      Thread.currentThread().join();
    }

    static ProcessBuilder owner(List<String> words) {
      return JavaCommand.of(Owner.class)
          .heap(32)
          .with("-XX:TieredStopAtLevel=1")
          .with(JavaCommand.BASIC)
          .process(words);
    }
  }

  private void killed(List<String> words) throws Exception {
    Process owner = Owner.owner(words).inheritIO().start();
    List<ProcessHandle> family = family();
    assertThat(family).allMatch(ProcessIdentity::runs);
    owner.destroyForcibly().waitFor();
    awaitEnd(family);
  }

  @Test
  void jvmKilled_itsGroups_endWithIt() throws Exception {
    killed(List.of(folder.toString()));
  }

  @Test
  void jvmKilled_groupsOfItsChildJvm_endWithIt() throws Exception {
    killed(List.of(folder.toString(), "by a child"));
  }

  @Test
  void guardKilled_isReplacedAndWorks() throws Exception {
    Process owner = Owner.owner(List.of(folder.toString())).inheritIO().start();
    List<ProcessHandle> family = family();
    ProcessHandle guard = guard(owner);
    guard.destroyForcibly();
    Await.until(
        "another guard",
        () -> owner.children().anyMatch(each -> isGuard(each) && !each.equals(guard)));
    owner.destroyForcibly().waitFor();
    awaitEnd(family);
  }

  private static boolean isGuard(ProcessHandle process) {
    return process.info().commandLine().orElse("").contains(ProcessGroup.GUARD);
  }

  private static ProcessHandle guard(Process owner) {
    return owner.children().filter(ProcessGroupTest::isGuard).findFirst().orElseThrow();
  }
}
