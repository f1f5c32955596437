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
 * Keys and values of the sequences being decoded, in pools of slots: a slot of pool p has room for
 * 32, 64, 128, ... tokens, the last for the context. A sequence moves to the next pool when it
 * outgrows its slot, so that it never holds more than twice what it needs (or 32), every copy is
 * paid for by as many tokens before it, and attention runs over sequences of like length together.
 *
 * <p>A pool's tensors, [slots, kv heads, room, head_dim] for keys and values of each layer, grow
 * and shrink by halves with the slots in use, which are its first; a pool of no slots has none.
 */
public final class KvCache implements AutoCloseable {
  private static final int SMALLEST_ROOM = 32;
  private static final int FIRST_SLOTS = 16;

  private final Decoder decoder;
  private final List<Pool> pools = new ArrayList<>();

  /** Stands for each tensor of a pool without slots, which the program does not look into. */
  private final NativeTensor absent;

  private TorchValue all;

  /** Slots of one size. */
  private static final class Pool implements AutoCloseable {
    private final int room;
    private int slots;
    private List<NativeTensor> tensors = List.of();
    private TorchValue value = TorchValue.of(List.of());

    Pool(int room) {
      this.room = room;
    }

    void resize(Decoder decoder, int wanted, int used) {
      List<NativeTensor> fresh;
      try (TorchProgram.Call call = decoder.withoutWeights("caches")) {
        call.with(value).with((long) wanted).with((long) room).with((long) used);
        fresh = Arrays.stream(call.tensorHandles()).mapToObj(NativeTensor::opaque).toList();
      }
      replace(fresh, wanted);
    }

    void clear() {
      replace(List.of(), 0);
    }

    private void replace(List<NativeTensor> fresh, int wanted) {
      close();
      tensors = fresh;
      value = TorchValue.of(fresh);
      slots = wanted;
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
    slotSizes(decoder.settings().contextLength()).forEach(room -> pools.add(new Pool(room)));
    this.all = newHandle();
  }

  /**
   * Room that a group can come to need, see {@link
   * io.troupe.engine.djl.torch.ComputeSettings#kvTokens}.
   *
   * @param longest tokens of the prompt and its longest completion
   */
  public static long tokens(int completions, int longest, int context) {
    return (long) completions * slotTokens(Math.min(longest, context), context);
  }

  private static List<Integer> slotSizes(int context) {
    List<Integer> rooms = new ArrayList<>();
    for (long room = SMALLEST_ROOM; room < context; room *= 2) {
      rooms.add((int) room);
    }
    rooms.add(context);
    return rooms;
  }

  /** What a sequence of so many tokens takes of a budget. */
  static int slotTokens(int tokens, int context) {
    return slotSizes(context).stream().filter(room -> room >= tokens).findFirst().orElseThrow();
  }

  int pools() {
    return pools.size();
  }

  /** Tokens that a slot of the pool holds. */
  int slotTokens(int pool) {
    return pools.get(pool).room;
  }

  /** The first pool whose slots hold so many tokens. */
  int poolFor(int tokens) {
    int pool = 0;
    while (slotTokens(pool) < tokens) {
      pool++;
    }
    return pool;
  }

  /** Tokens that the tensors have memory for. */
  long capacity() {
    return pools.stream().mapToLong(pool -> (long) pool.slots * pool.room).sum();
  }

  /**
   * Makes a pool's tensors fit for {@code needed} slots, of which the first {@code used} hold data.
   */
  void fit(int index, int needed, int used) {
    Pool pool = pools.get(index);
    boolean idle = needed == 0 ? pool.slots > FIRST_SLOTS : 4L * needed <= pool.slots;
    if (needed > pool.slots || (idle && pool.slots > FIRST_SLOTS)) {
      int growth = needed > pool.slots ? Math.max(needed, 2 * pool.slots) : 2 * needed;
      if (needed == 0) {
        pool.clear();
      } else {
        pool.resize(decoder, Math.max(FIRST_SLOTS, growth), used);
      }
      rebuildHandle();
    }
  }

  /** Frees the memory of all pools, with whatever is in them. */
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
