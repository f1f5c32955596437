package io.troupe.tracking.wandb;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.telemetry.export.ProtobufMessage;
import io.troupe.tracking.feed.RunFacts;
import io.troupe.tracking.feed.SystemSample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The offline file, byte for byte. */
final class WandbLogTest {
  private static final Path GOLDEN =
      Path.of("src/test/resources/io/troupe/tracking/wandb/run-golden.wandb");

  @TempDir private Path folder;

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void add_recordsOfAnySize_reopenedAnywhere_areReadBack(long seed) throws Exception {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    Path file = folder.resolve("run.wandb");
    List<byte[]> written = new ArrayList<>();
    long length = 0;
    for (int part = 0; part < 4; part++) {
      try (WandbLog log = WandbLog.open(file, length)) {
        for (int i = random.nextInt(6); i >= 0; i--) {
          byte[] record = new byte[1 + random.nextInt(random.nextBoolean() ? 40 : 70_000)];
          random.nextBytes(record);
          log.add(record);
          written.add(record);
        }
        length = log.sync();
        log.add(new byte[random.nextInt(40_000)]); // The process dies behind its cursor.
        log.sync();
      }
    }
    try (WandbLog log = WandbLog.open(file, length)) {
      assertThat(log.sync()).isEqualTo(length).isEqualTo(Files.size(file));
    }
    assertThat(WandbLogReader.records(file))
        .usingElementComparator(Arrays::compare)
        .isEqualTo(written);
  }

  /**
   * The golden file was uploaded whole by {@code wandb sync} 0.30.0; set {@code
   * troupe.golden.update} to write it again, and upload it again then.
   */
  @Test
  void golden_file_isWrittenAsItWasUploaded() throws IOException {
    Path file = folder.resolve("run-golden.wandb");
    Map<String, String> origin =
        new TreeMap<>(
            Map.of("git.commit", "0123456789abcdef0123456789abcdef01234567", "host", "h"));
    RunFacts facts =
        new RunFacts("run-1", "troupe", 1_767_322_800_000L, Map.of("training.steps", "9"), origin);
    try (WandbLog log = WandbLog.open(file, 0)) {
      log.add(numbered(1, WandbRecords.header("1.0")));
      log.add(numbered(2, WandbRecords.run("golden", facts)));
      for (int step = 0; step < 500; step++) {
        log.add(
            numbered(
                3 + step,
                WandbRecords.history(
                    step,
                    facts.startedMillis() + 1000L * step,
                    facts.startedMillis(),
                    Map.of("train/reward", Double.toString(step / 512.0)))));
      }
      SystemSample sample =
          new SystemSample(
              facts.startedMillis(),
              0.5,
              1L << 30,
              1L << 32,
              1L << 33,
              List.of(new SystemSample.GpuSample(0, 90, 1L << 34, 1L << 35)));
      log.add(numbered(503, WandbRecords.stats(sample)));
      log.add(numbered(504, WandbRecords.summary(Map.of("train/reward", "0.9746"))));
      log.add(numbered(505, WandbRecords.exit(0, 500_000)));
      log.sync();
    }
    if (Boolean.getBoolean("troupe.golden.update")) {
      Files.createDirectories(GOLDEN.getParent());
      Files.copy(file, GOLDEN, StandardCopyOption.REPLACE_EXISTING);
    }
    assertThat(file).hasSameBinaryContentAs(GOLDEN);
  }

  private static byte[] numbered(long number, ProtobufMessage record) {
    return new ProtobufMessage().varint(1, number).append(record).toBytes();
  }

  @Test
  void json_texts_areNumbersTruthValuesOrStrings() {
    assertThat(
            List.of("1", "-0.5", "5e-06", "true", "01", "1.", "toy", "a\"b").stream()
                .map(WandbRecords::json))
        .containsExactly("1", "-0.5", "5e-06", "true", "\"01\"", "\"1.\"", "\"toy\"", "\"a\\\"b\"");
  }
}
