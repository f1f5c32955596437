package io.troupe.base.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Children whose output outlives them. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class PipedChildTest {
  private static PipedChild start(String script) throws IOException {
    return PipedChild.start(new ProcessBuilder("sh", "-c", script));
  }

  @Test
  void start_outputAndErrors_areApart() throws Exception {
    PipedChild child = start("echo out; echo err >&2; exit 3");
    assertThat(new String(child.output().readAllBytes(), UTF_8)).isEqualTo("out\n");
    assertThat(new String(child.errors().readAllBytes(), UTF_8)).isEqualTo("err\n");
    assertThat(child.process().waitFor()).isEqualTo(3);
  }

  @Test
  void start_errorsRedirected_goWhereTheBuilderSays(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("errors");
    PipedChild child =
        PipedChild.start(
            new ProcessBuilder("sh", "-c", "echo out; echo err >&2").redirectError(file.toFile()));
    assertThat(new String(child.output().readAllBytes(), UTF_8)).isEqualTo("out\n");
    assertThat(child.process().waitFor()).isZero();
    assertThat(file).hasContent("err\n");
    assertThat(child.errors().read()).isEqualTo(-1);
  }

  @Test
  void start_childrenDeadAndGrandchildrenAlive_theCommonPoolIsFreeAndTheirOutputIsRead(
      @TempDir Path folder) throws Exception {
    // One child more than the common pool has workers.
    int children = ForkJoinPool.getCommonPoolParallelism() + 1;
    CompletableFuture<?>[] texts = new CompletableFuture<?>[children];
    for (int i = 0; i < children; i++) {
      // The JDK closes a child's standard input when the child ends, so a grandchild reads a named
      // pipe.
      Path pipe = folder.resolve("pipe" + i);
      assertThat(start("mkfifo " + pipe).process().waitFor()).isZero();
      PipedChild child = start("(read line < " + pipe + "; echo late) & echo $!");
      StringBuilder first = new StringBuilder();
      for (int b = child.output().read(); b != '\n'; b = child.output().read()) {
        first.append((char) b);
      }
      texts[i] = CompletableFuture.supplyAsync(() -> rest(child), task -> new Thread(task).start());
      assertThat(Await.value(child.process().onExit()).exitValue()).isZero();
      assertThat(ProcessHandle.of(Long.parseLong(first.toString()))).isPresent();
    }
    assertThat(Await.value(CompletableFuture.supplyAsync(() -> "done"))).isEqualTo("done");
    for (int i = 0; i < children; i++) {
      Files.writeString(folder.resolve("pipe" + i), "\n");
      assertThat(Await.value(texts[i])).isEqualTo("late\n");
    }
  }

  private static String rest(PipedChild child) {
    try {
      return new String(child.output().readAllBytes(), UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Test
  void start_programThatDoesNotExist_leavesNoPipeOpen() throws Exception {
    start("exit 0").output().close(); // loads what the first start loads
    long before = pipes();
    for (int i = 0; i < 9; i++) {
      assertThatThrownBy(() -> PipedChild.start(new ProcessBuilder("/does/not/exist")))
          .isInstanceOf(IOException.class);
    }
    assertThat(pipes()).as("tests beside this one open a few").isLessThan(before + 9);
  }

  private static long pipes() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/dev/fd"))) {
      return open.filter(PipedChildTest::isPipe).count();
    }
  }

  private static boolean isPipe(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().startsWith("pipe:");
    } catch (IOException closed) {
      return false;
    }
  }
}
