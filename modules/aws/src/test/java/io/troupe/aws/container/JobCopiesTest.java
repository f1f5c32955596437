package io.troupe.aws.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.aws.client.PlayedSurroundings;
import io.troupe.testkit.AwsKeys;
import io.troupe.testkit.FakeObjectStore;
import io.troupe.testkit.FakeObjectStore.Fault;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A container that looks for its run's copy in a played S3, in played time. */
@ResourceLock(Resources.SYSTEM_PROPERTIES)
final class JobCopiesTest {
  private final PlayedSurroundings here = new PlayedSurroundings(this::onPause);
  @AutoClose private FakeObjectStore server;
  private int healsAfter;
  private int pauses;

  @BeforeEach
  void start() throws IOException {
    server = FakeObjectStore.startWithKeys().bucket("lake");
  }

  private void onPause() {
    if (++pauses == healsAfter) {
      server.fail("lake", Fault.NONE);
    }
  }

  private JobCopies copies(String sync, int healsAfter) {
    this.healsAfter = healsAfter;
    return new JobCopies(
        Map.of(
            "run.sync",
            sync,
            "run.sync_endpoint",
            server.endpoint(),
            "run.sync_region",
            "us-east-1",
            "run.sync_path_style",
            "true"),
        Duration.ofMinutes(5),
        here,
        () -> false);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "s3://lakee/job/runs | NONE | the bucket is not there, create it or correct its name",
        "s3://lake/job/runs | FORBIDDEN | AccessDenied; the credentials do not open it",
        "s3://lake/job/runs | EXPIRED | ExpiredToken; the credentials have expired, renew them"
      })
  void newest_storeThatRefuses_isSaidAtOnce(String sync, Fault fault, String why) {
    server.fail("lake", fault);

    assertThatThrownBy(() -> copies(sync, 0).newest())
        .hasMessageContaining(sync)
        .hasMessageContaining(why);
    assertThat(pauses).isZero();
  }

  @Test
  void newest_withoutCredentials_isSaidAtOnce() {
    AwsKeys.clear();
    System.setProperty("aws.disableEc2Metadata", "true");
    try {
      assertThatThrownBy(() -> copies("s3://lake/job/runs", 0).newest())
          .hasMessage(
              "s3://lake/job/runs/: no credentials; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    } finally {
      System.clearProperty("aws.disableEc2Metadata");
    }
    assertThat(pauses).isZero();
  }

  @Test
  void newest_outageThatEnds_isWaitedForAndSaidOnce() throws Exception {
    server.fail("lake", Fault.THROTTLED);

    assertThat(copies("s3://lake/job/runs", 3).newest()).isEqualTo(Optional.empty());
    assertThat(pauses).isEqualTo(3);
    assertThat(here.said)
        .singleElement()
        .asString()
        .startsWith("waits for s3://lake/job/runs/: status 503");
  }

  @Test
  void newest_outageThatLasts_endsWithinFiveMinutes() {
    // The SDK's own pauses, which are real, are shorter than where the server throttles.
    server.fail("lake", Fault.BROKEN);

    long began = here.now;
    assertThatThrownBy(() -> copies("s3://lake/job/runs", 0).newest())
        .hasMessageContaining("status 500");
    assertThat(Duration.ofMillis(here.now - began))
        .isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5));
  }
}
