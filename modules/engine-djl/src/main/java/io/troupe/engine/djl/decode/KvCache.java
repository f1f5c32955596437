package io.troupe.engine.djl.decode;

import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.djl.torch.TorchValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The KV cache: keys and values of the sequences that decode, in pools of slots. The slots of the
 * pools have room for 32, 64, 128, ... tokens, and the slots of the last pool for the context. A
 * sequence moves to the next pool when it outgrows its slot. A sequence therefore never holds more
 * than twice the room that it needs (or 32), each copied token is paid for by a token decoded
 * before the copy, and attention runs over sequences of similar length together.
 *
 * <p>A pool's tensors, [slots, kv heads, room, head_dim] for keys and values of each layer, double
 * and halve with the number of slots in use, which are the first slots of the pool. A pool without
 * slots has no tensors.
 */
public final class KvCache implements AutoCloseable {
  private static final int MIN_SLOT_TOKENS = 32;
  private static final int MIN_SLOTS = 16;

  private final Decoder decoder;
  private final List<Pool> pools = new ArrayList<>();

  /** The placeholder for each tensor of a pool without slots; the program does not read it. */
  private final NativeTensor absent;

  private TorchValue all;

  /** Slots of one size. */
  private static final class Pool implements AutoCloseable {
    private final int slotTokens;
    private int slots;
    private List<NativeTensor> tensors = List.of();
    private TorchValue value = TorchValue.of(List.of());

    Pool(int slotTokens) {
      this.slotTokens = slotTokens;
    }

    void resize(Decoder decoder, int newSlots, int used) {
      List<NativeTensor> resized;
      try (TorchProgram.Call call = decoder.withoutWeights("caches")) {
        call.with(value).with((long) newSlots).with((long) slotTokens).with((long) used);
        resized = Arrays.stream(call.tensorHandles()).mapToObj(NativeTensor::opaque).toList();
      }
      replace(resized, newSlots);
    }

    void clear() {
      replace(List.of(), 0);
    }

    private void replace(List<NativeTensor> resized, int newSlots) {
      close();
      tensors = resized;
      value = TorchValue.of(resized);
      slots = newSlots;
    }

    @Override
    public void close() {
      value.close();
      tensors.forEach(NativeTensor::close);
    }
  }

  KvCache(Decoder decoder) {
    this.decoder = decoder;
    this.absent = NativeTensor.zeros(ElementType.FLOAT32, 0);
    slotSizes(decoder.settings().contextLength())
        .forEach(slotTokens -> pools.add(new Pool(slotTokens)));
    this.all = newHandle();
  }

  /**
   * Returns the most tokens of cache that a group can need, see {@link
   * io.troupe.engine.djl.torch.ComputeSettings.Decoding#kvTokens}.
   *
   * @param longest tokens of the prompt and its longest completion
   */
  public static long tokens(int completions, int longest, int context) {
    return (long) completions * slotTokens(Math.min(longest, context), context);
  }

  private static List<Integer> slotSizes(int context) {
    List<Integer> sizes = new ArrayList<>();
    for (long slotTokens = MIN_SLOT_TOKENS; slotTokens < context; slotTokens *= 2) {
      sizes.add((int) slotTokens);
    }
    sizes.add(context);
    return sizes;
  }

  /** Returns the tokens that a sequence of a given length takes from a budget. */
  static int slotTokens(int tokens, int context) {
    return slotSizes(context).stream()
        .filter(slotTokens -> slotTokens >= tokens)
        .findFirst()
        .orElseThrow();
  }

  int pools() {
    return pools.size();
  }

  /** Returns the number of tokens that a slot of the pool holds. */
  int slotTokens(int pool) {
    return pools.get(pool).slotTokens;
  }

  /** Returns the first pool whose slots hold a number of tokens. */
  int poolFor(int tokens) {
    int pool = 0;
    while (slotTokens(pool) < tokens) {
      pool++;
    }
    return pool;
  }

  /** Returns the number of tokens that the tensors have memory for. */
  long capacity() {
    return pools.stream().mapToLong(pool -> (long) pool.slots * pool.slotTokens).sum();
  }

  /**
   * Grows or shrinks the tensors of a pool for {@code needed} slots, of which the first {@code
   * used} hold data.
   */
  void fit(int index, int needed, int used) {
    Pool pool = pools.get(index);
    boolean oversized = needed == 0 ? pool.slots > MIN_SLOTS : 4L * needed <= pool.slots;
    if (needed > pool.slots || (oversized && pool.slots > MIN_SLOTS)) {
      int growth = needed > pool.slots ? Math.max(needed, 2 * pool.slots) : 2 * needed;
      if (needed == 0) {
        pool.clear();
      } else {
        pool.resize(decoder, Math.max(MIN_SLOTS, growth), used);
      }
      rebuildHandle();
    }
  }

  /** Frees the memory of all pools and drops their contents. */
  void clear() {
    pools.forEach(Pool::clear);
    rebuildHandle();
  }

  private void rebuildHandle() {
    all.close();
    all = newHandle();
  }

  /** The caches of all pools, for the program. */
  TorchValue all() {
    return all;
  }

  /** The caches of one pool, for the program. */
  TorchValue of(int pool) {
    return pools.get(pool).value;
  }

  private TorchValue newHandle() {
    List<NativeTensor> tensors = new ArrayList<>();
    int each = 2 * decoder.settings().layers();
    for (Pool pool : pools) {
      tensors.addAll(pool.slots == 0 ? Collections.nCopies(each, absent) : pool.tensors);
    }
    return TorchValue.of(tensors);
  }

  @Override
  public void close() {
    all.close();
    pools.forEach(Pool::close);
    absent.close();
  }
}
