package io.troupe.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.launch.remote.GpuUse;
import io.troupe.launch.remote.HostDiagnosis;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The doctor's report on the hosts of a cluster. */
final class HostsCheckTest {
  private static HostDiagnosis host(
      String name, List<String> problems, List<GpuUse> gpus, String driver, List<String> blocked) {
    return new HostDiagnosis(name, problems, "facts", gpus, List.of(driver), blocked);
  }

  @Test
  void findings_soundHosts_areOk() {
    List<CheckResult> findings =
        HostsCheck.findings(
            List.of(
                host("a", List.of(), List.of(), "570.1", List.of()),
                host("b", List.of(), List.of(), "570.1", List.of())));

    assertThat(findings)
        .containsExactly(CheckResult.ok("a", "facts"), CheckResult.ok("b", "facts"));
  }

  @Test
  void findings_zombieBlockedPortAndOtherDriver_areSaid() {
    GpuUse left = new GpuUse(0, "H100", 70_000, 81_559, 0);
    GpuUse free = new GpuUse(1, "H100", 3, 81_559, 0);

    List<CheckResult> findings =
        HostsCheck.findings(
            List.of(
                host("a", List.of(), List.of(left, free), "570.1", List.of("b:7400")),
                host("b", List.of("no JDK"), List.of(), "560.2", List.of())));

    assertThat(findings)
        .extracting(CheckResult::status)
        .containsExactly(
            CheckResult.Status.OK,
            CheckResult.Status.WARN,
            CheckResult.Status.FAIL,
            CheckResult.Status.FAIL,
            CheckResult.Status.WARN);
    assertThat(findings.get(1).detail())
        .isEqualTo("GPU 0 zombie (70000 of 81559 MiB, 0 %), GPU 1 free (3 of 81559 MiB, 0 %)");
    assertThat(findings.get(2).detail()).isEqualTo("cannot reach b:7400");
    assertThat(findings.getLast().detail()).isEqualTo("a 570.1, b 560.2");
  }
}
