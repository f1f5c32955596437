package io.troupe.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.store.folder.RunFolder;
import io.troupe.store.s3.S3Bucket;
import io.troupe.store.s3.S3Settings;
import io.troupe.testkit.Await;
import io.troupe.testkit.AwsKeys;
import io.troupe.testkit.FakeObjectStore;
import io.troupe.testkit.FakeObjectStore.Fault;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** Copies to stores that fail. */
@ResourceLock(Resources.SYSTEM_PROPERTIES)
final class RunSyncTest {
  @TempDir private Path runs;

  private RunFolder folder() throws IOException {
    return RunFolder.create(
        runs,
        "run",
        LocalDateTime.of(2026, 1, 2, 3, 4),
        new RunFolder.Contents(new byte[] {1, 2, 3}, "resolved", Map.of(), "{}"));
  }

  @Test
  void run_credentialsExpireAfterAWholeCopy_whatIsBehindIsCountedUntilTheyAreRenewed()
      throws Exception {
    RunFolder folder = folder();
    String target = "s3://lake/runs/" + folder.name() + "/";
    AwsKeys.set();
    try (FakeObjectStore server = FakeObjectStore.start().bucket("lake");
        RunSync sync =
            RunSync.start(
                folder,
                new S3Bucket(new S3Settings(server.endpoint(), "us-east-1", true), target),
                target,
                new SyncSettings(Duration.ofMillis(10), 0, Duration.ofMinutes(1)),
                false,
                _ -> {})) {
      Await.until("a whole copy", () -> sync.progress().complete());
      server.fail("lake", Fault.EXPIRED);
      Files.writeString(folder.metrics(), "{}\n");
      Await.until("the failure", () -> !sync.progress().problem().isEmpty());
      assertThat(sync.progress().problem()).contains("the credentials have expired, renew them");
      assertThat(sync.progress().objects()).isEqualTo(1);
      assertThat(sync.progress().bytes()).isEqualTo(3);
      Files.writeString(folder.metrics(), "{}\n".repeat(10));
      Await.until("what came meanwhile", () -> sync.progress().bytes() == 30);
      server.fail("lake", Fault.NONE);
      Await.until("a whole copy again", () -> sync.progress().complete());
    } finally {
      AwsKeys.clear();
    }
  }

  @Test
  void close_storeThatNeverAnswered_saysWhatTheCopyLacksAndWhy() throws Exception {
    RunFolder folder = folder();
    String target = "s3://lake/runs/" + folder.name() + "/";
    AwsKeys.set();
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
      AwsKeys.clear();
    }
  }
}
