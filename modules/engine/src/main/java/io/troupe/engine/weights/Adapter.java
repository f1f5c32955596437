package io.troupe.engine.weights;

import static io.troupe.core.Require.require;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Low-rank adapters that were trained beside a frozen base. Base plus adapters are the merged
 * weights of the same snapshot.
 *
 * @param rank of the matrices; 0 for none
 * @param alpha the product of the matrices is scaled by alpha / rank
 * @param targets names of the adapted matrices, as PEFT has them: {@code q_proj}
 * @param tensors A and B of each matrix, named as PEFT names them
 */
public record Adapter(
    int rank, double alpha, List<String> targets, List<WeightSnapshot.Tensor> tensors) {
  /** No adapters: the weights were trained as a whole, or came without their adapters. */
  public static final Adapter NONE = new Adapter(0, 0, List.of(), List.of());

  /** PEFT's prefix of the name of a matrix. */
  private static final String PREFIX = "base_model.model.";

  private static final String DOWN = ".lora_A.weight";
  private static final String UP = ".lora_B.weight";

  private static final int ALIGNMENT = 64;
  private static final ValueLayout.OfFloat FLOATS =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  public Adapter {
    targets = List.copyOf(targets);
    tensors = List.copyOf(tensors);
  }

  public boolean isNone() {
    return tensors.isEmpty();
  }

  /**
   * Returns weights with these adapters merged in: W + alpha / rank · B A of each adapted matrix,
   * in float32. A merge on an accelerator may differ from this one by rounding.
   *
   * @throws IllegalArgumentException if a matrix is not among the weights, or of another shape
   */
  public List<WeightSnapshot.Tensor> addedTo(List<WeightSnapshot.Tensor> base) {
    Map<String, WeightSnapshot.Tensor> parts = new HashMap<>();
    tensors.forEach(part -> parts.put(part.name(), part));
    Set<String> used = new HashSet<>();
    List<WeightSnapshot.Tensor> merged = new ArrayList<>();
    for (WeightSnapshot.Tensor matrix : base) {
      String stem = PREFIX + matrix.name().replaceFirst("\\.weight$", "");
      Optional<WeightSnapshot.Tensor> a = Optional.ofNullable(parts.get(stem + DOWN));
      Optional<WeightSnapshot.Tensor> b = Optional.ofNullable(parts.get(stem + UP));
      if (a.isPresent() && b.isPresent()) {
        used.add(a.get().name());
        used.add(b.get().name());
        merged.add(sum(matrix, a.get(), b.get()));
      } else {
        merged.add(matrix);
      }
    }
    List<String> left =
        parts.keySet().stream().filter(name -> !used.contains(name)).sorted().toList();
    require(left.isEmpty(), "the adapters are of other weights, which have no matrix for %s", left);
    return merged;
  }

  private WeightSnapshot.Tensor sum(
      WeightSnapshot.Tensor matrix, WeightSnapshot.Tensor a, WeightSnapshot.Tensor b) {
    require(
        matrix.shape().size() == 2
            && a.shape().equals(List.of((long) rank, matrix.shape().getLast()))
            && b.shape().equals(List.of(matrix.shape().getFirst(), (long) rank)),
        "adapters of shapes %s and %s and rank %d do not fit %s of shape %s",
        a.shape(),
        b.shape(),
        rank,
        matrix.name(),
        matrix.shape());
    int rows = Math.toIntExact(matrix.shape().getFirst());
    int columns = Math.toIntExact(matrix.shape().getLast());
    float scale = (float) (alpha / rank);
    float[] down = a.data().toArray(FLOATS);
    float[] up = b.data().toArray(FLOATS);
    float[] row = new float[columns];
    long bytes = matrix.data().byteSize();
    MemorySegment data = WeightMemory.arena(bytes).allocate(bytes, ALIGNMENT);
    for (int i = 0; i < rows; i++) {
      long at = (long) i * columns * Float.BYTES;
      MemorySegment.copy(matrix.data(), FLOATS, at, row, 0, columns);
      for (int r = 0; r < rank; r++) {
        float factor = scale * up[i * rank + r];
        for (int j = 0; j < columns; j++) {
          row[j] += factor * down[r * columns + j];
        }
      }
      MemorySegment.copy(row, 0, data, FLOATS, at, columns);
    }
    return new WeightSnapshot.Tensor(matrix.name(), matrix.shape(), data.asReadOnly());
  }
}
