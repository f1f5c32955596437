package io.troupe.engine.weights;

import io.troupe.core.weights.WeightVersion;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.function.Supplier;

/**
 * The policy's weights at one version, immutable, readable from any thread.
 *
 * @param version of the weights
 * @param digest SHA-256, in hex, over name, shape and the SHA-256 of each 16 MiB of bytes of all
 *     tensors in name order: two snapshots with the same digest sample alike
 * @param tensors in name order, named as in Hugging Face checkpoints; with adapters merged in
 * @param adapter the adapters by themselves
 */
public record WeightSnapshot(
    WeightVersion version, String digest, List<Tensor> tensors, Adapter adapter) {
  /** One tensor of float32 values, little-endian, row-major. */
  public static final class Tensor {
    private final String name;
    private final List<Long> shape;
    private final Supplier<MemorySegment> values;

    /**
     * Creates a tensor of values in memory.
     *
     * @param shape extents, outermost first
     * @param data exactly the values' bytes; read-only by convention
     */
    public Tensor(String name, List<Long> shape, MemorySegment data) {
      this(name, shape, () -> data);
    }

    private Tensor(String name, List<Long> shape, Supplier<MemorySegment> values) {
      this.name = name;
      this.shape = List.copyOf(shape);
      this.values = values;
    }

    /**
     * Creates a tensor whose values are made when they are read: a process whose server reads files
     * never does.
     *
     * @param made makes the values; what it returned is kept as long as it is in use
     */
    public static Tensor made(String name, List<Long> shape, Supplier<MemorySegment> made) {
      return new Tensor(name, shape, new WeaklyKept(made));
    }

    /** Returns the name. */
    public String name() {
      return name;
    }

    /** Returns the extents, outermost first. */
    public List<Long> shape() {
      return shape;
    }

    /** Returns exactly the values' bytes; read-only by convention. */
    public MemorySegment data() {
      return values.get();
    }

    /** Returns the number of the values' bytes, without making the values. */
    public long bytes() {
      return shape.stream().reduce((long) Float.BYTES, Math::multiplyExact);
    }

    @Override
    public String toString() {
      return name + " " + shape;
    }
  }

  /** Values that are made again once the values made before are out of use. */
  private static final class WeaklyKept implements Supplier<MemorySegment> {
    private final Supplier<MemorySegment> made;
    private WeakReference<MemorySegment> last = new WeakReference<>(null);

    WeaklyKept(Supplier<MemorySegment> made) {
      this.made = made;
    }

    @Override
    public synchronized MemorySegment get() {
      MemorySegment kept = last.get();
      if (kept == null) {
        kept = made.get();
        last = new WeakReference<>(kept);
      }
      return kept;
    }
  }

  public WeightSnapshot {
    tensors = List.copyOf(tensors);
  }

  /** Creates weights without adapters. */
  public WeightSnapshot(WeightVersion version, String digest, List<Tensor> tensors) {
    this(version, digest, tensors, Adapter.NONE);
  }

  /** Returns the same weights, into which these adapters were merged. */
  public WeightSnapshot with(Adapter merged) {
    return new WeightSnapshot(version, digest, tensors, merged);
  }
}
