package io.troupe.core.completion;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.weights.WeightVersion;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CompletionDigestTest {
  private static Completion completion(float last, FinishReason reason, int... preemptedAt) {
    return new Completion(
        new int[] {3, 70_000},
        new float[] {-0.5f, last},
        TokenVersions.uniform(WeightVersion.BASE, 2),
        reason,
        new float[0],
        preemptedAt);
  }

  @Test
  void of_oneBitOrTheEndDiffers_isAnotherDigest() {
    String digest = CompletionDigest.of(completion(-1f, FinishReason.STOP));

    assertThat(digest).hasSize(11);
    assertThat(CompletionDigest.of(completion(-1f, FinishReason.STOP))).isEqualTo(digest);
    assertThat(CompletionDigest.of(completion(Math.nextUp(-1f), FinishReason.STOP)))
        .isNotEqualTo(digest);
    assertThat(CompletionDigest.of(completion(-1f, FinishReason.LENGTH))).isNotEqualTo(digest);
  }

  @Test
  void preemptedAt_digestOfAPreemptedCompletion_isWhereThatWas() {
    String digest = CompletionDigest.of(completion(-1f, FinishReason.STOP, 1, 48));

    assertThat(digest).isEqualTo(CompletionDigest.of(completion(-1f, FinishReason.STOP)) + "@1@48");
    assertThat(CompletionDigest.preemptedAt(digest)).isEqualTo(List.of(1, 48));
  }
}
