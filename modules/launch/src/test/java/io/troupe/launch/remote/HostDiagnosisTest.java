package io.troupe.launch.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.troupe.launch.SshServer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Hosts that are looked at without a run, over a real ssh server. */
final class HostDiagnosisTest {
  @TempDir private Path keys;

  @ParameterizedTest
  @CsvSource({
    "'0, NVIDIA H100, 99, 81559, 0', FREE",
    "'0, NVIDIA H100, 100, 81559, 4', ZOMBIE",
    "'0, NVIDIA H100, 70000, 81559, 5', BUSY",
    "'7, NVIDIA A100-SXM4-80GB, 3, 81920, 100', BUSY"
  })
  void occupation_memoryAndUtilization_sayWhatTheGpuDoes(
      String line, GpuUse.Occupation occupation) {
    assertThat(GpuUse.parse(line).orElseThrow().occupation()).isEqualTo(occupation);
  }

  @Test
  void parse_lineOfAFailure_isNoGpu() {
    assertThat(GpuUse.parse("Unable to determine the device handle")).isEmpty();
    assertThat(GpuUse.parse("0, NVIDIA H100, [N/A], 81559, 0")).isEmpty();
  }

  @Test
  void look_reachableHost_findsBusyPortsAndHostsThatCannotBeReached() throws Exception {
    assumeTrue(
        SshServer.installed(), "no sshd: apt-get install openssh-server openssh-client to test it");
    try (SshServer server = SshServer.start(keys, List.of("127.0.0.2", "127.0.0.3"));
        ServerSocket listener =
            new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 2}))) {
      RemoteHost near = server.host("127.0.0.2");
      RemoteHost far = server.host("127.0.0.3");
      RemoteHost nowhere = new RemoteHost("user@host.invalid", "host.invalid", 22);
      SshClient ssh = new SshClient(server.options("user"), keys);
      int port = listener.getLocalPort();

      HostDiagnosis found =
          HostDiagnosis.look(
              ssh,
              near,
              List.of(near, far, nowhere),
              List.of(port),
              Clock.offset(Clock.systemUTC(), Duration.ofMinutes(-1)));
      ssh.close(List.of(near));

      assertThat(found.blocked()).containsExactly("host.invalid:" + port);
      assertThat(found.problems())
          .anyMatch(problem -> problem.startsWith("port %d is in use".formatted(port)))
          .anyMatch(problem -> problem.contains("ahead of ours; start a time service"));
    }
  }
}
