package io.troupe.base.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testkit.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Children that print more than a log takes, on disks that work, stall and refuse. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ChildLogTest {
  private static final int MIB = 1 << 20;

  @TempDir private Path folder;

  private ProcessGroup start(String script) throws IOException {
    return ProcessGroup.start(new ProcessBuilder("sh", "-c", script).redirectErrorStream(true));
  }

  @Test
  void of_lineOfManyBounds_fillsTheFilesAndTheChildEndsByItself() throws Exception {
    RotatedFile file = new RotatedFile(folder.resolve("child.log"), new RotatedFile.Bounds(MIB, 3));
    ProcessGroup child = start("head -c 16777216 /dev/zero; echo; echo last; exit 7");
    ChildLog log = ChildLog.of(child.output(), file, "child.log");
    assertThat(Await.value(log.ended())).isZero();
    assertThat(child.leader().waitFor()).as("neither killed nor held up").isEqualTo(7);
    assertThat(folder.toFile().list())
        .containsExactlyInAnyOrder("child.log", "child.log.1", "child.log.2");
    // The file before the newest ends early where the rest of the line fits into the newest as a
    // whole.
    assertThat(Files.size(folder.resolve("child.log.2"))).isEqualTo(MIB);
    assertThat(Files.size(folder.resolve("child.log.1"))).isBetween(1L, (long) MIB);
    assertThat(Files.size(folder.resolve("child.log"))).isBetween(1L, (long) MIB);
    assertThat(Files.readString(folder.resolve("child.log"))).endsWith("\nlast\n");
  }

  @Test
  void of_process_keepsWhatIsThereAndAddsErrorsToo() throws Exception {
    Path file = Files.writeString(folder.resolve("child.log"), "before\n");
    ProcessGroup child = start("echo out; echo err >&2");
    assertThat(Await.value(ChildLog.of(child, file).ended())).isZero();
    assertThat(file).hasContent("before\nout\nerr\n");
  }

  @Test
  void of_processThatPrintsNothing_hasAnEmptyLog() throws Exception {
    Path file = folder.resolve("child.log");
    assertThat(Await.value(ChildLog.of(start("exit 0"), file).ended())).isZero();
    assertThat(file).isEmptyFile();
  }

  @Test
  void of_diskThatStalls_neverHoldsTheChildUpAndSaysWhatIsMissing() throws Exception {
    CountDownLatch stall = new CountDownLatch(1);
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    ChildLog.Sink stalled =
        new ChildLog.Sink() {
          @Override
          public void write(byte[] bytes) throws IOException {
            try {
              stall.await();
            } catch (InterruptedException never) {
              throw new IOException(never);
            }
            written.write(bytes);
          }

          @Override
          public void close() {}
        };
    ProcessGroup child = start("echo first; head -c 33554432 /dev/zero; exit 7");
    ChildLog log = ChildLog.of(child.output(), stalled, "child.log");
    assertThat(child.leader().waitFor()).isEqualTo(7);
    stall.countDown();
    assertThat(Await.value(log.ended())).isZero();
    String text = written.toString(UTF_8);
    assertThat(text).startsWith("first\n");
    Matcher note =
        Pattern.compile(
                "\n\\[(\\d+) bytes of output are not in this log: the disk did not take them]\n")
            .matcher(text);
    assertThat(note.find()).isTrue();
    long kept = note.start();
    // What was still in the pipe when the disk wrote again.
    long after = (long) text.length() - note.end();
    assertThat(kept + Long.parseLong(note.group(1)) + after).isEqualTo(6 + 33_554_432);
    assertThat(kept).isGreaterThan(4 * MIB - (1 << 16));
  }

  @Test
  void of_diskThatRefusesForAWhile_goesOnAndSaysWhatIsMissing() throws Exception {
    AtomicBoolean full = new AtomicBoolean(true);
    CountDownLatch refused = new CountDownLatch(1);
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    ChildLog.Sink disk =
        new ChildLog.Sink() {
          @Override
          public void write(byte[] bytes) throws IOException {
            if (full.get()) {
              refused.countDown();
              throw new IOException("No space left on device");
            }
            written.write(bytes);
          }

          @Override
          public void close() {}
        };
    ProcessGroup child = start("echo one; read line; echo two");
    ChildLog log = ChildLog.of(child.output(), disk, "child.log");
    refused.await();
    full.set(false);
    child.leader().getOutputStream().close();
    assertThat(Await.value(log.ended())).isZero();
    assertThat(written.toString(UTF_8))
        .isEqualTo("two\n\n[4 bytes of output are not in this log: the disk did not take them]\n");
  }
}
