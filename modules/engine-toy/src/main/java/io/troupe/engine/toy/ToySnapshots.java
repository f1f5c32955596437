package io.troupe.engine.toy;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** Turns the toy policy's weights into a snapshot and back. */
final class ToySnapshots {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private ToySnapshots() {}

  /** A copy of the weights. */
  static WeightSnapshot of(WeightVersion version, LogitTable model, float[] weights) {
    MemorySegment values = MemorySegment.ofArray(bytes(weights)).asReadOnly();
    List<WeightSnapshot.Tensor> tensors =
        List.of(new WeightSnapshot.Tensor(LogitTable.TENSOR, shape(model), values));
    return new WeightSnapshot(version, TensorDigest.of(tensors), tensors);
  }

  /**
   * A copy of a snapshot's weights.
   *
   * @throws IllegalArgumentException if the snapshot is of another policy
   */
  static float[] weights(WeightSnapshot snapshot, LogitTable model) {
    require(
        snapshot.tensors().size() == 1
            && snapshot.tensors().getFirst().name().equals(LogitTable.TENSOR)
            && snapshot.tensors().getFirst().shape().equals(shape(model)),
        "a snapshot of this policy holds the tensor %s of shape %s, and that of %s holds %s",
        LogitTable.TENSOR,
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

  private static List<Long> shape(LogitTable model) {
    return Arrays.stream(model.shape()).boxed().toList();
  }
}
