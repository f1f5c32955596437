package io.troupe.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.store.s3.S3Bucket;
import io.troupe.store.s3.S3Settings;
import io.troupe.testkit.AwsKeys;
import io.troupe.testkit.FakeObjectStore;
import io.troupe.testkit.FakeObjectStore.Fault;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@ResourceLock(Resources.SYSTEM_PROPERTIES)
final class CopyAccessTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final String PLACE = "s3://lake/runs/";

  @AutoClose private FakeObjectStore server;

  @BeforeEach
  void start() throws IOException {
    server = FakeObjectStore.startWithKeys().bucket("lake");
  }

  private CopyAccess ask(String place) throws InterruptedException {
    S3Settings settings = new S3Settings(server.endpoint(), "us-east-1", true);
    return CopyAccess.ask(() -> new S3Bucket(settings, place), place, PATIENCE);
  }

  @Test
  void ask_bucketThatReadsAndWrites_isOpenAndLeavesNothing() throws Exception {
    assertThat(ask(PLACE)).isEqualTo(new CopyAccess.Open());
    assertThat(server.objects()).isEmpty();
    assertThat(server.openUploads()).isZero();
  }

  @Test
  void ask_bucketThatIsNotThere_isRefusedWithWhatToDo() throws Exception {
    assertThat(ask("s3://lakee/runs/"))
        .isEqualTo(
            new CopyAccess.Refused(
                "s3://lakee/runs/index.json: status 404 NoSuchBucket; the bucket is not there, create it or correct its name"));
  }

  @Test
  void ask_deniedOrExpiredCredentials_areRefusedWithWhatToDo() throws Exception {
    server.fail("lake", Fault.FORBIDDEN);
    assertThat(ask(PLACE))
        .isEqualTo(
            new CopyAccess.Refused(
                "s3://lake/runs/index.json: status 403 AccessDenied; the credentials do not open it (AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"));
    server.fail("lake", Fault.EXPIRED);
    assertThat(ask(PLACE))
        .isEqualTo(
            new CopyAccess.Refused(
                "s3://lake/runs/index.json: status 400 ExpiredToken; the credentials have expired, renew them"));
  }

  @Test
  void ask_withoutCredentials_isRefused() throws Exception {
    AwsKeys.clear();
    System.setProperty("aws.disableEc2Metadata", "true");
    try {
      assertThat(ask(PLACE))
          .isEqualTo(
              new CopyAccess.Refused(
                  "s3://lake/runs/index.json: no credentials; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"));
    } finally {
      System.clearProperty("aws.disableEc2Metadata");
    }
  }

  @Test
  void ask_outageOrThrottling_isNoRefusal() throws Exception {
    server.fail("lake", Fault.BROKEN);
    assertThat(ask(PLACE)).isInstanceOf(CopyAccess.Unknown.class);
    server.fail("lake", Fault.THROTTLED);
    assertThat(ask(PLACE)).isInstanceOf(CopyAccess.Unknown.class);
  }

  @Test
  void ask_storeThatNeverAnswers_isNotWaitedFor() throws Exception {
    try (ServerSocket hole = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      S3Settings settings =
          new S3Settings("http://127.0.0.1:" + hole.getLocalPort(), "us-east-1", true);

      CopyAccess access =
          CopyAccess.ask(() -> new S3Bucket(settings, PLACE), PLACE, Duration.ofSeconds(1));

      assertThat(access)
          .isEqualTo(new CopyAccess.Unknown("s3://lake/runs/ has not answered for 1 s"));
    }
  }
}
