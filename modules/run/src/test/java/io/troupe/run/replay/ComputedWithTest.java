package io.troupe.run.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** The facts on which the computations of two processes depend. */
final class ComputedWithTest {
  private static final Map<String, String> RECORDED =
      Map.of("torch", "2.7.1", "MKL_CBWR", "AVX512,STRICT", "jdk", "25.0.3");

  @Test
  void obstacles_anotherLibraryAndBranch_areNamedWithBothValues() {
    Map<String, String> here = Map.of("torch", "2.5.0", "jdk", "25.0.4");

    assertThat(ComputedWith.obstacles(RECORDED, here))
        .containsExactly(
            "MKL_CBWR was AVX512,STRICT and is unset here", "torch was 2.7.1 and is 2.5.0 here");
    assertThat(ComputedWith.remarks(RECORDED, here))
        .containsExactly("jdk was 25.0.3 and is 25.0.4 here");
  }

  @Test
  void obstacles_sameFacts_areNone() {
    assertThat(ComputedWith.obstacles(RECORDED, RECORDED)).isEmpty();
  }
}
