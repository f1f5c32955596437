package io.troupe.accelerator.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CudaVisibilityTest {
  /** A process that starts as node agents and trainer ranks do. */
  @Test
  void restrictTo_someGpus_isReadByLibrariesAndNotByChildrenWithAnEnvironmentOfTheirOwn()
      throws Exception {
    CudaVisibility.restrictTo(List.of("GPU-4", "GPU-5"));

    assertThat(CudaVisibility.current()).contains("GPU-4,GPU-5");
    ProcessBuilder child = new ProcessBuilder("sh", "-c", "echo ${CUDA_VISIBLE_DEVICES:-none}");
    child.environment().put("OTHER", "");
    byte[] seen = child.start().getInputStream().readAllBytes();
    assertThat(new String(seen, StandardCharsets.UTF_8).strip())
        .isEqualTo(System.getenv().getOrDefault("CUDA_VISIBLE_DEVICES", "none"));
  }
}
