package io.troupe.engine.djl.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.troupe.base.foreign.ProcessEnvironment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class CudaAllocatorTest {
  private static final String NEWER = "PYTORCH_ALLOC_CONF";
  private static final String OLDER = "PYTORCH_CUDA_ALLOC_CONF";
  private static final String FIXED = "expandable_segments:False";

  @Test
  void load_withoutTheUsersVariables_hasBothForPyTorchAndNoneForChildren() throws IOException {
    assumeThat(System.getenv()).doesNotContainKeys(NEWER, OLDER);
    Torch.load();

    assertThat(ProcessEnvironment.get(NEWER)).contains("expandable_segments:True");
    assertThat(ProcessEnvironment.get(OLDER)).contains("expandable_segments:True");
    ProcessBuilder child = new ProcessBuilder("env");
    child.environment().put("OTHER", "");
    String seen = new String(child.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(seen).contains("OTHER=").doesNotContain("ALLOC_CONF");
  }

  @Test
  void grows_withTheUsersVariables_isWhatPyTorchReadsFirst() {
    assertThat(CudaAllocator.grows(Map.of())).isTrue();
    assertThat(CudaAllocator.grows(Map.of(OLDER, FIXED))).isFalse();
    assertThat(CudaAllocator.grows(Map.of(OLDER, "max_split_size_mb:64"))).isFalse();
    assertThat(CudaAllocator.grows(Map.of(OLDER, FIXED, NEWER, "expandable_segments:True")))
        .isTrue();
  }

  @Test
  void configuredBy_always_namesTheVariableOrTheDefault() {
    assertThat(CudaAllocator.configuredBy(Map.of()))
        .isEqualTo("expandable_segments:True, the default here");
    assertThat(CudaAllocator.configuredBy(Map.of(OLDER, FIXED)))
        .isEqualTo("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False");
  }
}
