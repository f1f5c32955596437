package io.troupe.engine.djl.torch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The instructions that MKL is told to use. */
final class MklBranchTest {
  private static final String AVX512 = "avx512f avx512dq avx512cd avx512bw avx512vl";

  private static CpuInfo cpu(String flags) {
    return new CpuInfo(List.of("processor\t: 0", "model name\t: A CPU", "flags\t\t: " + flags));
  }

  @Test
  void strict_instructionsOfACpu_areTheWidest() {
    assertThat(MklBranch.strict(cpu("fpu avx avx2 " + AVX512).instructions()))
        .contains("AVX512,STRICT");
    assertThat(MklBranch.strict(cpu("fpu avx avx2 avx512f").instructions()))
        .as("the first processors with AVX-512 lack most of it")
        .contains("AVX2,STRICT");
    assertThat(MklBranch.strict(cpu("fpu avx").instructions())).isEmpty();
    assertThat(MklBranch.strict(new CpuInfo(List.of()).instructions())).isEmpty();
  }
}
