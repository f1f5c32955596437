package io.troupe.engine.djl.decode;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.TorchProgram;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The completions that decode together, each in a slot of the KV cache.
 *
 * <p><b>Slots.</b> Row i of a pool owns slot i of the pool. A new row is added at the end. When a
 * row is removed, the last row of the pool moves into its slot, so that slots stay dense. A slot
 * holds the keys and values of the prompt and of all sampled tokens but the latest, which is the
 * input of the next step.
 *
 * <p><b>Batch invariance.</b> The library chooses a kernel, and so the order of a sum, by the
 * shapes of a call. If decoding is batch-invariant, no shape that a row's numbers depend on comes
 * from other rows: products have rows of zeros up to a multiple of {@link DecodeThreads#MIN_ROWS} a
 * thread, attention reads the whole slot, and prompts are padded to a room that their own length
 * decides. That those shapes are enough is a property of a library and a processor; {@link
 * InvarianceTest} checks it.
 *
 * <p><b>Failure.</b> Every native call can run out of memory, and then loses the data that it was
 * writing. Each operation therefore does its native work first and changes the lists of rows
 * afterwards. Whenever a call fails, a row that had a slot is in exactly one pool, a row that was
 * to get a slot is in none, and a token is counted once or not at all. {@link #clear} then frees
 * the whole cache in any state, without a call that could fail again.
 */
final class DecodeSlots implements AutoCloseable {
  /** Sequences of batch-invariant prefills are padded to multiples of these lengths. */
  private static final int SHORT_ROOM = 8;

  private static final int ROOM = 32;

  private final Decoder decoder;
  private final DecodeWeights weights;
  private final Tokenizer tokenizer;
  private final DecodeThreads threads;
  private final KvCache cache;
  private final TokenSampler sampler;
  private final boolean batchInvariant;
  private final List<List<DecodeRow>> pools = new ArrayList<>();

  /** A row, its slot, and the index of the sequence that the prefill computes for the slot. */
  record SlotAssignment(DecodeRow row, int pool, int slot, int sequence) {}

  DecodeSlots(
      Decoder decoder, DecodeWeights weights, ComputeSettings compute, Tokenizer tokenizer) {
    this.decoder = decoder;
    this.weights = weights;
    this.tokenizer = tokenizer;
    this.threads = DecodeThreads.of(decoder, compute);
    this.cache = new KvCache(decoder);
    this.sampler = new TokenSampler(decoder);
    this.batchInvariant = compute.decoding().batchInvariant();
    for (int pool = 0; pool < cache.pools(); pool++) {
      pools.add(new ArrayList<>());
    }
  }

  /** Returns the number of completions that have a slot. */
  int size() {
    return pools.stream().mapToInt(List::size).sum();
  }

  /** Returns the number of completions that have a slot of a pool. */
  int size(int pool) {
    return pools.get(pool).size();
  }

  int pools() {
    return pools.size();
  }

  List<DecodeRow> rows() {
    return pools.stream().flatMap(List::stream).toList();
  }

  /** Returns the row in a slot. */
  DecodeRow row(int pool, int slot) {
    return pools.get(pool).get(slot);
  }

  /** Returns the first pool whose slots hold a number of tokens. */
  int poolFor(int tokens) {
    return cache.poolFor(tokens);
  }

  /** Returns the size in tokens of the smallest slot that holds a number of tokens. */
  int slotTokensFor(int tokens) {
    return cache.slotTokens(cache.poolFor(tokens));
  }

  /** Returns the number of tokens that the slots in use have room for. */
  long reserved() {
    long tokens = 0;
    for (int pool = 0; pool < pools.size(); pool++) {
      tokens += (long) pools.get(pool).size() * cache.slotTokens(pool);
    }
    return tokens;
  }

  /** Returns the number of tokens by which {@link #moveToLargerPool} grows the slots in use. */
  long promotionTokens() {
    long tokens = 0;
    for (int pool = 0; pool < pools.size() - 1; pool++) {
      int slotTokens = cache.slotTokens(pool);
      long outgrown = pools.get(pool).stream().filter(row -> row.length() > slotTokens).count();
      tokens += outgrown * (cache.slotTokens(pool + 1) - slotTokens);
    }
    return tokens;
  }

  /** Returns the number of tokens that the tensors of the cache have memory for. */
  long capacity() {
    return cache.capacity();
  }

  /** Samples one token for every row. */
  void step(WeightVersion version) {
    List<DecodeRow> rows = rows();
    SamplingInputs inputs = sampler.inputs();
    inputs.ensureCapacity(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      inputs.integer(0, i, rows.get(i).lastToken());
      inputs.integer(1, i, rows.get(i).position());
    }
    long[] sizes = new long[2 * pools.size()];
    for (int pool = 0; pool < pools.size(); pool++) {
      sizes[2 * pool] = pools.get(pool).size();
      sizes[2 * pool + 1] = keysOf(pool);
    }
    threads.share(rows.size());
    TokenSampler.SampledTokens sampled;
    try (TorchProgram.Call call = decoder.call("decode", weights)) {
      sampled = sampler.run(call.with(cache.all()).with(sizes), rows);
    }
    sampled.accept(rows, version, tokenizer);
  }

  /** Returns the number of keys that attention reads for each row of a pool. */
  private int keysOf(int pool) {
    return batchInvariant
        ? cache.slotTokens(pool)
        : pools.get(pool).stream().mapToInt(DecodeRow::length).max().orElse(0);
  }

  /**
   * Returns the length that a prefill pads a sequence to, at least: sequences of one call have the
   * same. If decoding is batch-invariant, the sequence alone decides it.
   */
  int prefillRoom(int length) {
    int context = decoder.settings().contextLength();
    int multiple = length <= ROOM ? SHORT_ROOM : ROOM;
    return batchInvariant ? Math.min(context, Math.ceilDiv(length, multiple) * multiple) : 0;
  }

  /**
   * Computes the keys and values of each sequence once and copies them into the slots of its rows.
   * A row without a slot has one afterwards.
   *
   * @param longest length of the longest sequence
   * @param assignments sorted by pool; within a pool slots ascend, and slots of new rows follow the
   *     slots in use
   * @param version of the weights, if the call also samples a token for each row
   */
  void prefill(
      List<IntBuffer> sequences,
      int longest,
      List<SlotAssignment> assignments,
      Optional<WeightVersion> version) {
    SamplingInputs inputs = sampler.inputs();
    inputs.ensureCapacity(assignments.size());
    long[] sizes = new long[pools.size()];
    int[] needed = new int[pools.size()];
    for (int i = 0; i < assignments.size(); i++) {
      SlotAssignment assignment = assignments.get(i);
      sizes[assignment.pool]++;
      needed[assignment.pool] = assignment.slot + 1;
      inputs.integer(0, i, assignment.sequence);
      inputs.integer(1, i, assignment.slot);
    }
    for (int pool = 0; pool < pools.size(); pool++) {
      int used = pools.get(pool).size();
      cache.fit(pool, Math.max(used, needed[pool]), used);
    }
    threads.shareSequences(sequences.size(), longest);
    List<DecodeRow> rows = assignments.stream().map(SlotAssignment::row).toList();
    Optional<TokenSampler.SampledTokens> sampled = Optional.empty();
    try (NativeTensor ids = decoder.zeros(ElementType.INT64, sequences.size(), longest);
        NativeTensor lengths = decoder.zeros(ElementType.INT64, sequences.size());
        TorchProgram.Call call = decoder.call("prefill", weights)) {
      fill(sequences, longest, ids.memory(), lengths.memory());
      call.with(cache.all()).with(sizes).with(ids).with(lengths);
      if (version.isPresent()) {
        sampled = Optional.of(sampler.run(call, rows));
      } else {
        sampler.runWithout(call, rows.size());
      }
    }
    for (SlotAssignment assignment : assignments) {
      if (assignment.slot == pools.get(assignment.pool).size()) {
        pools.get(assignment.pool).add(assignment.row);
      }
    }
    sampled.ifPresent(tokens -> tokens.accept(rows, version.orElseThrow(), tokenizer));
  }

  private static void fill(
      List<IntBuffer> sequences, int longest, MemorySegment ids, MemorySegment lengths) {
    for (int p = 0; p < sequences.size(); p++) {
      IntBuffer sequence = sequences.get(p);
      lengths.setAtIndex(ValueLayout.JAVA_LONG, p, sequence.limit());
      for (int t = 0; t < sequence.limit(); t++) {
        ids.setAtIndex(ValueLayout.JAVA_LONG, (long) p * longest + t, sequence.get(t));
      }
    }
  }

  /** Moves each row whose slot has no room for the next token to the next pool. */
  void moveToLargerPool() {
    for (int pool = pools.size() - 2; pool >= 0; pool--) {
      moveToLargerPool(pool);
    }
  }

  private void moveToLargerPool(int pool) {
    int slotTokens = cache.slotTokens(pool);
    List<DecodeRow> rows = pools.get(pool);
    List<DecodeRow> target = pools.get(pool + 1);
    SamplingInputs inputs = sampler.inputs();
    inputs.ensureCapacity(rows.size());
    int outgrown = 0;
    for (int slot = 0; slot < rows.size(); slot++) {
      if (rows.get(slot).length() > slotTokens) {
        inputs.integer(0, outgrown, slot);
        inputs.integer(1, outgrown, target.size() + outgrown);
        outgrown++;
      }
    }
    if (outgrown > 0) {
      cache.fit(pool + 1, target.size() + outgrown, target.size());
      move(pool, pool + 1, outgrown);
      target.addAll(removeAndCompact(pool, row -> row.length() > slotTokens));
    }
  }

  /**
   * Removes rows, pool by pool.
   *
   * @param removed receives the removed rows of each pool
   */
  void remove(Predicate<DecodeRow> removes, Consumer<List<DecodeRow>> removed) {
    for (int pool = 0; pool < pools.size(); pool++) {
      removed.accept(removeAndCompact(pool, removes));
    }
  }

  /** Removes rows from a pool, fills the gaps, and returns the removed rows in order of slots. */
  private List<DecodeRow> removeAndCompact(int pool, Predicate<DecodeRow> removes) {
    List<DecodeRow> removed = pools.get(pool).stream().filter(removes).toList();
    if (removed.isEmpty()) {
      return removed;
    }
    List<DecodeRow> kept = new ArrayList<>(pools.get(pool));
    SamplingInputs inputs = sampler.inputs();
    inputs.ensureCapacity(kept.size());
    int moved = 0;
    int slot = 0;
    while (slot < kept.size()) {
      if (!removes.test(kept.get(slot))) {
        slot++;
        continue;
      }
      int last = kept.size() - 1;
      DecodeRow candidate = kept.removeLast();
      if (last != slot && !removes.test(candidate)) {
        kept.set(slot, candidate);
        inputs.integer(0, moved, last);
        inputs.integer(1, moved, slot);
        moved++;
        slot++;
      }
    }
    if (moved > 0) {
      move(pool, pool, moved);
    }
    cache.fit(pool, kept.size(), kept.size());
    pools.set(pool, kept);
    return removed;
  }

  private void move(int from, int to, int slots) {
    try (TorchProgram.Call call = decoder.call("move")) {
      call.with(cache.of(from))
          .with(cache.of(to))
          .with(sampler.inputs().integers())
          .with((long) slots)
          .run();
    }
  }

  /** Frees all slots and the memory of the cache, and returns the rows that had a slot. */
  List<DecodeRow> clear() {
    List<DecodeRow> rows = rows();
    pools.forEach(List::clear);
    cache.clear();
    return rows;
  }

  @Override
  public void close() {
    cache.close();
    sampler.close();
  }
}
