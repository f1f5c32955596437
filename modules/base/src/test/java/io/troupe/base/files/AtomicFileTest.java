package io.troupe.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AtomicFileTest {
  private final Path folder;
  private final Path file;

  AtomicFileTest(@TempDir Path folder) {
    this.folder = folder;
    this.file = folder.resolve("secret");
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(one -> one.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void replace_again_isTheNewContentAndNothingElse() throws IOException {
    AtomicFile.replace(file, "one");
    AtomicFile.replace(file, "two");
    assertThat(file).hasContent("two");
    assertThat(names()).containsExactly("secret");
  }

  @Test
  void replace_thatFails_leavesWhatWasThere() throws IOException {
    Files.createDirectories(file.resolve("in the way"));
    assertThatThrownBy(() -> AtomicFile.replace(file, "one")).isInstanceOf(IOException.class);
    assertThat(names()).containsExactly("secret");
  }

  @Test
  void replace_writerThatFails_leavesWhatWasThere() throws IOException {
    AtomicFile.replace(file, "one");
    assertThatThrownBy(
            () ->
                AtomicFile.replace(
                    file,
                    beside -> {
                      Files.writeString(beside, "half");
                      throw new IOException("the disk is full");
                    }))
        .hasMessage("the disk is full");
    assertThat(file).hasContent("one");
    assertThat(names()).containsExactly("secret");
  }

  @Test
  void replace_afterAWriterThatWasKilled_isTheNewContent() throws IOException {
    Files.writeString(folder.resolve(".secret.tmp"), "half");
    AtomicFile.replace(
        file, beside -> Files.writeString(beside, "two", StandardOpenOption.CREATE_NEW));
    assertThat(file).hasContent("two");
    assertThat(names()).containsExactly("secret");
  }

  @Test
  void write_privateFileAgain_isReplacedAndStaysPrivate() throws IOException {
    PrivateFiles.write(file, new byte[] {1});
    PrivateFiles.write(file, new byte[] {2});
    assertThat(file).hasBinaryContent(new byte[] {2});
    assertThat(PrivateFiles.openness(file)).isEmpty();
    assertThat(names()).containsExactly("secret");
  }

  @Test
  void replace_withPermissions_isNeverOpenToOthers() throws IOException {
    AtomicFile.replace(
        file,
        "one",
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  @Test
  void once_emptyOrDamaged_isWrittenAgain() throws IOException {
    for (String damaged : List.of("", "\0\0\0\0", "x")) {
      Files.writeString(file, damaged);
      assertThat(AtomicFile.once(file, () -> "sound", "sound"::equals)).isEqualTo("sound");
      assertThat(file).hasContent("sound");
    }
  }

  @Test
  void once_manyAtATime_allGetTheSame() throws Exception {
    AtomicInteger drawn = new AtomicInteger();
    Callable<String> comer =
        () ->
            AtomicFile.once(
                file, () -> "token " + drawn.incrementAndGet(), text -> text.startsWith("token "));
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      List<Future<String>> all =
          threads.invokeAll(IntStream.range(0, 64).mapToObj(_ -> comer).toList());
      for (Future<String> one : all) {
        assertThat(one.get()).isEqualTo("token 1");
      }
    }
  }
}
