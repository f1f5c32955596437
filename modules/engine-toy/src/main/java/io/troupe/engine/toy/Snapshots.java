package io.troupe.engine.toy;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.WeightSnapshot;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Turns the toy policy's weights into a snapshot and back. */
final class Snapshots {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Snapshots() {}

  /** A copy of the weights. The digest is over name (UTF-8), extents (64 bits each) and values. */
  static WeightSnapshot of(WeightVersion version, SumTable model, float[] weights) {
    byte[] values = bytes(weights);
    MessageDigest digest = sha256();
    digest.update(SumTable.TENSOR.getBytes(StandardCharsets.UTF_8));
    byte[] extents = new byte[Long.BYTES * model.shape().length];
    littleEndian(extents).asLongBuffer().put(model.shape());
    digest.update(extents);
    digest.update(values);
    return new WeightSnapshot(
        version,
        HexFormat.of().formatHex(digest.digest()),
        List.of(
            new WeightSnapshot.Tensor(
                SumTable.TENSOR, shape(model), MemorySegment.ofArray(values).asReadOnly())));
  }

  /**
   * A copy of a snapshot's weights.
   *
   * @throws IllegalArgumentException if the snapshot is of another policy
   */
  static float[] weights(WeightSnapshot snapshot, SumTable model) {
    require(
        snapshot.tensors().size() == 1
            && snapshot.tensors().getFirst().name().equals(SumTable.TENSOR)
            && snapshot.tensors().getFirst().shape().equals(shape(model)),
        "a snapshot of this policy holds the tensor %s of shape %s, and that of %s holds %s",
        SumTable.TENSOR,
        shape(model),
        snapshot.version(),
        snapshot.tensors().stream().map(t -> t.name() + " " + t.shape()).toList());
    MemorySegment data = snapshot.tensors().getFirst().data();
    require(
        data.byteSize() == (long) Float.BYTES * model.parameters(),
        "%d parameters are %d bytes, and the snapshot of %s has %d",
        model.parameters(),
        (long) Float.BYTES * model.parameters(),
        snapshot.version(),
        data.byteSize());
    return data.toArray(FLOAT);
  }

  /** Little-endian. */
  static byte[] bytes(float[] values) {
    byte[] bytes = new byte[Float.BYTES * values.length];
    littleEndian(bytes).asFloatBuffer().put(values);
    return bytes;
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static List<Long> shape(SumTable model) {
    return Arrays.stream(model.shape()).boxed().toList();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
