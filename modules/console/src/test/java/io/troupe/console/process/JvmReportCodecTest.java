package io.troupe.console.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The reports between processes, and the treatment of too much. */
class JvmReportCodecTest {
  private final SplittableRandom random = new SplittableRandom(7);

  private String noise(int words) {
    StringBuilder noise = new StringBuilder();
    for (int i = 0; i < words; i++) {
      noise.append(Long.toHexString(random.nextLong()));
    }
    return noise.toString();
  }

  @Test
  void report_small_comesBackAsItWas() throws IOException {
    JvmReport report =
        new JvmReport(
            "b-w1",
            "worker",
            "b",
            Map.of("threads", 7.0),
            List.of(new JvmReport.GpuReport(0, "H200", 8, 4, -1, "ours", "b-w1")),
            List.of(new JvmReport.VerifierReport("b-w1/math-1", "math", "idle", 3)),
            List.of(actor("/user", 1)),
            List.of(new JvmReport.TurnReport("tool calc", 3, "g1 episode 1", 5)));
    assertThat(JvmReportCodec.report(JvmReportCodec.pack(report))).isEqualTo(report);
  }

  @Test
  void report_ofTooManyActors_keepsTheBusiest() throws IOException {
    List<ActorRow> actors =
        IntStream.range(0, 3_000).mapToObj(i -> actor("/user/" + noise(10), i)).toList();
    JvmReport report =
        new JvmReport("a", "node", "a", Map.of(), List.of(), List.of(), actors, List.of());
    byte[] packed = JvmReportCodec.pack(report);
    assertThat(packed.length).isLessThanOrEqualTo(JvmReportCodec.MAX_BYTES);
    assertThat(JvmReportCodec.report(packed).actors().getFirst()).isEqualTo(actors.getLast());
  }

  private static ActorRow actor(String path, long handled) {
    return new ActorRow("b-w1", path, 0, 0, handled, 0.5, 0, "", List.of());
  }

  @Test
  void threads_tooMany_areCutAndSaySo() throws IOException {
    StringBuilder dump = new StringBuilder();
    while (dump.length() < 1 << 18) {
      dump.append(noise(2)).append('\n');
    }
    byte[] packed = JvmReportCodec.pack(dump.toString());
    assertThat(packed.length).isLessThanOrEqualTo(JvmReportCodec.MAX_BYTES);
    assertThat(JvmReportCodec.threads(packed)).contains("cut: the rest does not fit");
    assertThat(dump.toString()).startsWith(JvmReportCodec.threads(packed).substring(0, 1_000));
  }

  @Test
  void flame_tooWide_losesItsThinnestFrames() throws IOException {
    List<FlameFrame> children = new ArrayList<>(List.of(new FlameFrame("hot", 1_000, List.of())));
    for (int i = 0; i < 3_000; i++) {
      children.add(new FlameFrame(noise(10), 1 + i % 3, List.of()));
    }
    byte[] packed = JvmReportCodec.pack(new FlameFrame("all", 7_000, children));
    assertThat(packed.length).isLessThanOrEqualTo(JvmReportCodec.MAX_BYTES);
    assertThat(JvmReportCodec.flame(packed).children().getFirst().frame()).isEqualTo("hot");
  }
}
