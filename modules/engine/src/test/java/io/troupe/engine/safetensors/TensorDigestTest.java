package io.troupe.engine.safetensors;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class TensorDigestTest {
  private static final int PART = 16 << 20;

  @Test
  void of_tensorsOfOneAndOfSeveralParts_isTheDigestOfNamesShapesAndPartDigests() throws Exception {
    byte[] large = new byte[PART + 4096];
    byte[] small = new byte[8];
    new Random(1).nextBytes(large);
    new Random(2).nextBytes(small);
    MessageDigest whole = MessageDigest.getInstance("SHA-256");
    whole.update("a [4195328]\n".getBytes(UTF_8));
    whole.update(sha(Arrays.copyOf(large, PART)));
    whole.update(sha(Arrays.copyOfRange(large, PART, large.length)));
    whole.update("b [1, 2]\n".getBytes(UTF_8));
    whole.update(sha(small));
    assertThat(
            TensorDigest.of(
                List.of(
                    tensor("a", List.of(large.length / 4L), large),
                    tensor("b", List.of(1L, 2L), small))))
        .isEqualTo(HexFormat.of().formatHex(whole.digest()));
  }

  private static byte[] sha(byte[] bytes) throws Exception {
    return MessageDigest.getInstance("SHA-256").digest(bytes);
  }

  private static WeightSnapshot.Tensor tensor(String name, List<Long> shape, byte[] bytes) {
    return new WeightSnapshot.Tensor(name, shape, MemorySegment.ofArray(bytes));
  }
}
