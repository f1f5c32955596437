package io.troupe.engine.safetensors;

import io.troupe.base.hash.Sha256;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;

/** SHA-256 over name, shape and bytes of tensors, as {@link WeightSnapshot} defines it. */
public final class TensorDigest {
  private static final long CHUNK = 1 << 30; // a buffer on a segment ends at 2 GiB

  private TensorDigest() {}

  /** Returns the digest in hex: of each tensor, "name [extents]" and a newline, then its bytes. */
  public static String of(List<WeightSnapshot.Tensor> tensors) {
    MessageDigest digest = Sha256.digest();
    for (WeightSnapshot.Tensor tensor : tensors) {
      digest.update((tensor.name() + " " + tensor.shape() + "\n").getBytes(StandardCharsets.UTF_8));
      MemorySegment data = tensor.data();
      for (long from = 0; from < data.byteSize(); from += CHUNK) {
        long length = Math.min(CHUNK, data.byteSize() - from);
        digest.update(data.asSlice(from, length).asByteBuffer());
      }
    }
    return Sha256.hex(digest);
  }
}
