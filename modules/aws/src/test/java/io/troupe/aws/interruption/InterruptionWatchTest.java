package io.troupe.aws.interruption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.testkit.FakeInstanceMetadata;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class InterruptionWatchTest {
  private static final Instant AT = Instant.parse("2026-11-22T08:22:00Z");
  private static final String NOTICE =
      "{\"action\": \"terminate\", \"time\": \"2026-11-22T08:22:00Z\"}";

  private FakeInstanceMetadata fake;
  private InstanceMetadata metadata;

  @BeforeEach
  void open() throws IOException {
    fake = FakeInstanceMetadata.start();
    metadata = new InstanceMetadata(URI.create(fake.endpoint()));
  }

  @AfterEach
  void close() {
    metadata.close();
    fake.close();
  }

  @Test
  void look_instanceStaysIsAdvisedIsTaken_saysSo() {
    assertThat(metadata.look()).isEqualTo(new Sighting.Undisturbed());
    fake.put(FakeInstanceMetadata.REBALANCE, "{\"noticeTime\": \"2026-11-22T08:10:00Z\"}");
    assertThat(metadata.look()).isEqualTo(new Sighting.Rebalance());
    fake.put(FakeInstanceMetadata.ACTION, NOTICE);
    assertThat(metadata.look())
        .isEqualTo(new Sighting.Interruption(new InterruptionNotice("terminate", AT)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<html>",
        "[]",
        "{\"action\":\"stop\"}",
        "{\"time\":\"2026-11-22T08:22:00Z\"}"
      })
  void look_nonsense_isUnknown(String body) {
    fake.put(FakeInstanceMetadata.ACTION, body);
    assertThat(metadata.look()).isInstanceOf(Sighting.Unknown.class);
  }

  @Test
  void look_serverFailsThenHeals_isUnknownAndThenKnown() {
    fake.failWith(503);
    assertThat(metadata.look()).isInstanceOf(Sighting.Unknown.class);
    fake.failWith(0);
    assertThat(metadata.look()).isEqualTo(new Sighting.Undisturbed());
  }

  @Test
  void start_notice_isPassedOnOnce() throws Exception {
    fake.put(FakeInstanceMetadata.ACTION, NOTICE);
    CompletableFuture<InterruptionNotice> seen = new CompletableFuture<>();
    try (InterruptionWatch _ =
        InterruptionWatch.start(
            Optional.of(URI.create(fake.endpoint())),
            sentence -> seen.completeExceptionally(new AssertionError(sentence)),
            notice -> assertThat(seen.complete(notice)).isTrue())) {
      assertThat(seen.get(30, TimeUnit.SECONDS)).isEqualTo(new InterruptionNotice("terminate", AT));
    }
  }

  @Test
  void left_keepsAMarginAndIsNeverOver() {
    InterruptionNotice notice = new InterruptionNotice("stop", AT);
    assertThat(notice.left(AT.minusSeconds(120))).isEqualTo(Duration.ofSeconds(110));
    assertThat(notice.left(AT.plusSeconds(3600))).isEqualTo(Duration.ofSeconds(1));
    assertThat(notice.text(AT.minusSeconds(120)))
        .isEqualTo("EC2 takes this spot instance back (stop) at 2026-11-22T08:22:00Z, in 120 s");
  }

  @Test
  void after_silenceAdviceAndAnswers_saysEachOnce() {
    SightingLog log = SightingLog.NOTHING;
    Sighting unknown = new Sighting.Unknown("status 503");
    assertThat(log.after(unknown, AT).sentence()).isEmpty();
    log = log.after(unknown, AT).log();
    SightingLog.Next late = log.after(unknown, AT.plusSeconds(60));
    assertThat(late.sentence().orElseThrow()).contains("since 2026-11-22T08:22:00Z (status 503)");
    assertThat(late.log().after(unknown, AT.plusSeconds(120)).sentence()).isEmpty();
    SightingLog.Next healed = late.log().after(new Sighting.Undisturbed(), AT.plusSeconds(125));
    assertThat(healed.sentence()).contains("the instance metadata answer again");
    SightingLog.Next advised = healed.log().after(new Sighting.Rebalance(), AT);
    assertThat(advised.sentence().orElseThrow()).contains("rebalance recommendation");
    assertThat(advised.log().after(new Sighting.Rebalance(), AT).sentence()).isEmpty();
  }

  @Test
  void endpoint_auto_needsTheVendorOfEc2(@TempDir Path folder) throws IOException {
    Path vendor = folder.resolve("sys_vendor");
    assertThat(InterruptionWatch.onEc2(vendor)).isFalse();
    Files.writeString(vendor, "QEMU\n");
    assertThat(InterruptionWatch.onEc2(vendor)).isFalse();
    Files.writeString(vendor, "Amazon EC2\n");
    assertThat(InterruptionWatch.onEc2(vendor)).isTrue();
    assertThat(InterruptionWatch.endpoint("none")).isEmpty();
    assertThat(InterruptionWatch.endpoint("http://127.0.0.1:1"))
        .contains(URI.create("http://127.0.0.1:1"));
    assertThatThrownBy(() -> InterruptionWatch.endpoint("always"))
        .hasMessage("is auto, none or an address such as http://169.254.169.254, not 'always'");
  }
}
