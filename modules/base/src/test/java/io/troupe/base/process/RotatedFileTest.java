package io.troupe.base.process;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RotatedFileTest {
  @TempDir private Path folder;

  private RotatedFile open(long fileBytes, int files) {
    return new RotatedFile(folder.resolve("log"), new RotatedFile.Bounds(fileBytes, files));
  }

  private String content(String name) throws IOException {
    return Files.readString(folder.resolve(name));
  }

  @Test
  void write_linesBeyondTheBound_areCutBetweenLinesAndTheOldestGo() throws Exception {
    try (RotatedFile log = open(8, 3)) {
      for (String line : new String[] {"aaa\n", "bbb\n", "cc\nddd\n", "eeeee\n", "ff\n"}) {
        log.write(line.getBytes(UTF_8));
      }
    }
    assertThat(content("log")).isEqualTo("ff\n");
    assertThat(content("log.1")).isEqualTo("eeeee\n");
    assertThat(content("log.2")).isEqualTo("cc\nddd\n");
    assertThat(folder.toFile().list()).hasSize(3);
  }

  @Test
  void write_lineLongerThanTheBound_isCutAtTheBound() throws Exception {
    try (RotatedFile log = open(4, 4)) {
      log.write("abcdefghij\n".getBytes(UTF_8));
    }
    assertThat(content("log.2")).isEqualTo("abcd");
    assertThat(content("log.1")).isEqualTo("efgh");
    assertThat(content("log")).isEqualTo("ij\n");
  }

  @Test
  void write_fileThatIsLongerAlready_rotatesAtOnce() throws Exception {
    Files.writeString(folder.resolve("log"), "of an earlier process\n");
    try (RotatedFile log = open(8, 2)) {
      log.write("a\n".getBytes(UTF_8));
    }
    assertThat(content("log")).isEqualTo("a\n");
    assertThat(content("log.1")).isEqualTo("of an earlier process\n");
  }

  /** A folder in the place of the next file cannot be replaced by it. */
  @Test
  void write_whatCannotBeRotated_isRefusedAndTheBoundHolds() throws Exception {
    Path obstacle = Files.createDirectories(folder.resolve("log.1").resolve("full"));
    try (RotatedFile log = open(4, 2)) {
      log.write("abc\n".getBytes(UTF_8));
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> log.write("def\n".getBytes(UTF_8)))
            .isInstanceOf(IOException.class);
      }
      assertThat(content("log")).isEqualTo("abc\n");
      Files.delete(obstacle);
      log.write("ghi\n".getBytes(UTF_8));
    }
    assertThat(content("log")).isEqualTo("ghi\n");
    assertThat(content("log.1")).isEqualTo("abc\n");
  }

  @Test
  void write_anyPieces_areTheLastOfAllThatWasWrittenInOrderAndWithinTheBound() throws Exception {
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Path own = Files.createDirectories(folder.resolve("seed" + seed));
      int bound = 4 + random.nextInt(40);
      int files = 2 + random.nextInt(3);
      StringBuilder all = new StringBuilder();
      try (RotatedFile log =
          new RotatedFile(own.resolve("log"), new RotatedFile.Bounds(bound, files))) {
        for (int i = 0; i < 8; i++) {
          StringBuilder piece = new StringBuilder();
          for (int n = random.nextInt(60); n > 0; n--) {
            piece.append(random.nextInt(6) == 0 ? '\n' : (char) ('a' + random.nextInt(26)));
          }
          all.append(piece);
          log.write(piece.toString().getBytes(UTF_8));
        }
      }
      StringBuilder kept = new StringBuilder();
      for (int number = files - 1; number >= 0; number--) {
        Path file = own.resolve(number == 0 ? "log" : "log." + number);
        if (Files.exists(file)) {
          assertThat(Files.size(file)).as("seed %d", seed).isBetween(0L, (long) bound);
          kept.append(Files.readString(file));
        }
      }
      assertThat(all.toString()).as("seed %d", seed).endsWith(kept);
      assertThat(own.toFile().list()).hasSizeLessThanOrEqualTo(files);
    }
  }
}
