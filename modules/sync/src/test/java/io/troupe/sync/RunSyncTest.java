package io.troupe.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.store.folder.RunFolder;
import io.troupe.store.s3.S3Bucket;
import io.troupe.store.s3.S3Settings;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A copy to a store that takes connections and never answers. */
final class RunSyncTest {
  @TempDir private Path runs;

  @Test
  void close_storeThatNeverAnswered_saysWhatTheCopyLacksAndWhy() throws Exception {
    RunFolder folder =
        RunFolder.create(
            runs,
            "run",
            LocalDateTime.of(2026, 1, 2, 3, 4),
            new RunFolder.Contents(new byte[] {1, 2, 3}, "resolved", Map.of(), "{}"));
    String target = "s3://lake/runs/" + folder.name() + "/";
    System.setProperty("aws.accessKeyId", "tester");
    System.setProperty("aws.secretAccessKey", "secret");
    try (ServerSocket hole = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      S3Settings settings =
          new S3Settings("http://127.0.0.1:" + hole.getLocalPort(), "us-east-1", true);
      RunSync sync =
          RunSync.start(
              folder,
              new S3Bucket(settings, target),
              target,
              new SyncSettings(Duration.ofMillis(10), 0, Duration.ofSeconds(1)),
              false,
              _ -> {});
      sync.close();

      CopyStatus lacks = CopyStatus.of(folder, target);
      assertThat(lacks.objects()).isGreaterThan(1);
      assertThat(lacks.bytes()).isGreaterThan(3);
      assertThat(sync.progress())
          .extracting(SyncProgress::objects, SyncProgress::bytes, SyncProgress::problem)
          .containsExactly(lacks.objects(), lacks.bytes(), "not done within 1 s");
    } finally {
      System.clearProperty("aws.accessKeyId");
      System.clearProperty("aws.secretAccessKey");
    }
  }
}
