package io.troupe.accelerator.transfer;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.List;

/**
 * The cut of a flat array of tensors into the pieces of a transfer, by the rule that vLLM's workers
 * cut by: tensors are added to a chunk in their order until it exceeds the limit. So a chunk is
 * always a slice of the array, and the last tensor of a chunk may reach beyond the limit.
 */
public final class WeightChunks {
  private WeightChunks() {}

  /**
   * A slice of the tensors.
   *
   * @param first index of its first tensor
   * @param end index after its last tensor
   * @param from offset in bytes
   * @param bytes length
   */
  public record Chunk(int first, int end, long from, long bytes) {}

  /**
   * Cuts an array.
   *
   * @param sizes bytes of each tensor, in order
   * @param limit bytes of a buffer; 0 makes each tensor a chunk of its own
   */
  public static List<Chunk> cut(List<Long> sizes, long limit) {
    require(limit >= 0, "a buffer has 0 bytes or more, not %d", limit);
    List<Chunk> chunks = new ArrayList<>();
    int first = 0;
    long from = 0;
    long bytes = 0;
    for (int i = 0; i < sizes.size(); i++) {
      bytes += sizes.get(i);
      if (bytes > limit || i == sizes.size() - 1) {
        chunks.add(new Chunk(first, i + 1, from, bytes));
        first = i + 1;
        from += bytes;
        bytes = 0;
      }
    }
    return List.copyOf(chunks);
  }
}
