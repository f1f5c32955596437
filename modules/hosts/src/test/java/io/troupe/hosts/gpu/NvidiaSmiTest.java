package io.troupe.hosts.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NvidiaSmiTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final long MIB = 1 << 20;

  @TempDir Path folder;

  private NvidiaSmi fake(Duration deadline, String... body) throws IOException {
    Path script = folder.resolve("nvidia-smi");
    Files.writeString(script, String.join("\n", body) + "\n");
    return new NvidiaSmi(List.of("/bin/sh", script.toString()), deadline);
  }

  @Test
  void read_twoGpus_findsMemoryUseAndProcesses() throws Exception {
    NvidiaSmi probe =
        fake(
            DEADLINE,
            "case $1 in",
            "--query-gpu=index,uuid,memory.total,memory.used,utilization.gpu,name)",
            "  echo '1, GPU-bb, 143771, 4, [N/A], NVIDIA H200'",
            "  echo '0, GPU-aa, 143771, 30721, 97, NVIDIA H200';;",
            "--query-compute-apps=gpu_uuid,pid,used_memory,process_name)",
            "  echo 'GPU-aa, 4711, 30700, /usr/bin/python3, with comma'",
            "  echo 'GPU-aa, 4712, [N/A], [Not Found]';;",
            "esac");
    assertThat(probe.read())
        .containsExactly(
            new Gpu(
                0,
                "GPU-aa",
                "NVIDIA H200",
                143771 * MIB,
                30721 * MIB,
                OptionalInt.of(97),
                List.of(
                    new Gpu.GpuProcess(4711, "/usr/bin/python3, with comma", 30700 * MIB),
                    new Gpu.GpuProcess(4712, "[Not Found]", 0))),
            new Gpu(
                1, "GPU-bb", "NVIDIA H200", 143771 * MIB, 4 * MIB, OptionalInt.empty(), List.of()));
  }

  @Test
  void read_hungDriver_isEndedAtTheDeadline() throws Exception {
    NvidiaSmi probe = fake(Duration.ofMillis(300), "exec sleep 3600");
    assertThatThrownBy(probe::read)
        .isInstanceOf(GpuProbeException.class)
        .hasMessageContaining("gave no answer")
        .hasMessageContaining("restart the host");
  }

  @Test
  void read_brokenDriver_quotesIt() throws Exception {
    NvidiaSmi probe =
        fake(DEADLINE, "echo 'NVIDIA-SMI has failed: no driver communication'", "exit 9");
    assertThatThrownBy(probe::read)
        .isInstanceOf(GpuProbeException.class)
        .hasMessageContaining("exit code 9: NVIDIA-SMI has failed: no driver communication");
  }

  @Test
  void read_absentProgram_namesTheSetting() {
    NvidiaSmi probe = new NvidiaSmi(List.of(folder.resolve("none").toString()), DEADLINE);
    assertThatThrownBy(probe::read)
        .isInstanceOf(GpuProbeException.class)
        .hasMessageContaining("gpus: {virtual: N}");
  }

  @Test
  void read_garbledAnswers_areRefused() throws Exception {
    for (String line : List.of("hello", "0, GPU-aa, many, 4, 0, H200", "0;GPU-aa;1;2;3;H200")) {
      NvidiaSmi probe = fake(DEADLINE, "echo '" + line + "'");
      assertThatThrownBy(probe::read)
          .isInstanceOf(GpuProbeException.class)
          .hasMessageContaining("cannot be read");
    }
  }

  @Test
  void virtual_eight_areFreeStandIns() throws Exception {
    assertThat(GpuProbe.virtual(8).read())
        .hasSize(8)
        .extracting(Gpu::uuid)
        .startsWith("virtual-0")
        .endsWith("virtual-7");
  }
}
