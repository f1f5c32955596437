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
 * The completions decoded together, each in a slot of a cache of keys and values.
 *
 * <p><b>Slots.</b> Row i of a pool owns slot i of it. New rows come at the end; the place of one
 * that leaves is taken by the last, whose slot is copied, so that slots stay dense. A slot holds
 * prompt and all tokens but the latest, which the next step reads.
 *
 * <p><b>Failure.</b> Every native call can run out of memory, and what it was writing is lost then.
 * So each operation does its native work first and changes lists after it: at every moment a call
 * can fail, a row that had a slot is in one pool, a row that was to enter is in none, and a token
 * is counted once or not at all. {@link #clear} then frees the whole cache, whatever state it is
 * in, without a call that could fail again.
 */
final class DecodeSlots implements AutoCloseable {
  private final Decoder decoder;
  private final DecodeWeights weights;
  private final Tokenizer tokenizer;
  private final DecodeThreads threads;
  private final KvCache cache;
  private final TokenSampler draw;
  private final List<List<DecodeRow>> pools = new ArrayList<>();

  /** A row whose sequence is read into a slot. */
  record SlotAssignment(DecodeRow row, int pool, int slot, int sequence) {}

  DecodeSlots(
      Decoder decoder, DecodeWeights weights, ComputeSettings compute, Tokenizer tokenizer) {
    this.decoder = decoder;
    this.weights = weights;
    this.tokenizer = tokenizer;
    this.threads = DecodeThreads.of(decoder, compute);
    this.cache = new KvCache(decoder);
    this.draw = new TokenSampler(decoder);
    for (int pool = 0; pool < cache.pools(); pool++) {
      pools.add(new ArrayList<>());
    }
  }

  /** How many completions have a slot. */
  int size() {
    return pools.stream().mapToInt(List::size).sum();
  }

  /** How many completions have a slot of a pool. */
  int size(int pool) {
    return pools.get(pool).size();
  }

  int pools() {
    return pools.size();
  }

  List<DecodeRow> rows() {
    return pools.stream().flatMap(List::stream).toList();
  }

  /** The row in a slot. */
  DecodeRow row(int pool, int slot) {
    return pools.get(pool).get(slot);
  }

  /** The first pool whose slots hold so many tokens. */
  int poolFor(int tokens) {
    return cache.poolFor(tokens);
  }

  /** Tokens that a slot for so many has room for. */
  int slotTokensFor(int tokens) {
    return cache.slotTokens(cache.poolFor(tokens));
  }

  /** How many tokens the slots in use have room for. */
  long reserved() {
    long tokens = 0;
    for (int pool = 0; pool < pools.size(); pool++) {
      tokens += (long) pools.get(pool).size() * cache.slotTokens(pool);
    }
    return tokens;
  }

  /** Tokens by which the slots in use grow with {@link #moveToLargerPool}. */
  long promotionTokens() {
    long tokens = 0;
    for (int pool = 0; pool < pools.size() - 1; pool++) {
      int room = cache.slotTokens(pool);
      long outgrown = pools.get(pool).stream().filter(row -> row.length() > room).count();
      tokens += outgrown * (cache.slotTokens(pool + 1) - room);
    }
    return tokens;
  }

  /** Tokens that the cache's tensors have memory for. */
  long capacity() {
    return cache.capacity();
  }

  /** Draws one token for every row. */
  void step(WeightVersion version) {
    List<DecodeRow> rows = rows();
    SamplingInputs inputs = draw.inputs();
    inputs.ensureCapacity(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      inputs.integer(0, i, rows.get(i).lastToken());
      inputs.integer(1, i, rows.get(i).position());
    }
    long[] sizes = new long[2 * pools.size()];
    for (int pool = 0; pool < pools.size(); pool++) {
      sizes[2 * pool] = pools.get(pool).size();
      sizes[2 * pool + 1] = pools.get(pool).stream().mapToInt(DecodeRow::length).max().orElse(0);
    }
    threads.take(rows.size());
    TokenSampler.SampledTokens drawn;
    try (TorchProgram.Call call = decoder.call("decode", weights)) {
      drawn = draw.run(call.with(cache.all()).with(sizes), rows);
    }
    drawn.accept(rows, version, tokenizer);
  }

  /**
   * Reads each sequence once into the slots of its rows. Rows without a slot have theirs from then
   * on.
   *
   * @param longest of the sequences
   * @param places by pool; in each, slots ascend, those of new rows following those in use
   * @param version of the token that is drawn for each row, if one is
   */
  void read(
      List<IntBuffer> sequences,
      int longest,
      List<SlotAssignment> places,
      Optional<WeightVersion> version) {
    SamplingInputs inputs = draw.inputs();
    inputs.ensureCapacity(places.size());
    long[] sizes = new long[pools.size()];
    int[] needed = new int[pools.size()];
    for (int i = 0; i < places.size(); i++) {
      SlotAssignment place = places.get(i);
      sizes[place.pool]++;
      needed[place.pool] = place.slot + 1;
      inputs.integer(0, i, place.sequence);
      inputs.integer(1, i, place.slot);
    }
    for (int pool = 0; pool < pools.size(); pool++) {
      int held = pools.get(pool).size();
      cache.fit(pool, Math.max(held, needed[pool]), held);
    }
    threads.take((long) sequences.size() * longest);
    List<DecodeRow> rows = places.stream().map(SlotAssignment::row).toList();
    Optional<TokenSampler.SampledTokens> drawn = Optional.empty();
    try (NativeTensor ids = decoder.zeros(ElementType.INT64, sequences.size(), longest);
        NativeTensor lengths = decoder.zeros(ElementType.INT64, sequences.size());
        TorchProgram.Call call = decoder.call("prefill", weights)) {
      fill(sequences, longest, ids.memory(), lengths.memory());
      call.with(cache.all()).with(sizes).with(ids).with(lengths);
      if (version.isPresent()) {
        drawn = Optional.of(draw.run(call, rows));
      } else {
        draw.runWithout(call, rows.size());
      }
    }
    for (SlotAssignment place : places) {
      if (place.slot == pools.get(place.pool).size()) {
        pools.get(place.pool).add(place.row);
      }
    }
    drawn.ifPresent(tokens -> tokens.accept(rows, version.orElseThrow(), tokenizer));
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

  /** Moves rows that the next token would not fit to the next pool. */
  void moveToLargerPool() {
    for (int pool = pools.size() - 2; pool >= 0; pool--) {
      moveToLargerPool(pool);
    }
  }

  private void moveToLargerPool(int pool) {
    int room = cache.slotTokens(pool);
    List<DecodeRow> rows = pools.get(pool);
    List<DecodeRow> target = pools.get(pool + 1);
    SamplingInputs inputs = draw.inputs();
    inputs.ensureCapacity(rows.size());
    int outgrown = 0;
    for (int slot = 0; slot < rows.size(); slot++) {
      if (rows.get(slot).length() > room) {
        inputs.integer(0, outgrown, slot);
        inputs.integer(1, outgrown, target.size() + outgrown);
        outgrown++;
      }
    }
    if (outgrown > 0) {
      cache.fit(pool + 1, target.size() + outgrown, target.size());
      move(pool, pool + 1, outgrown);
      target.addAll(removeAndCompact(pool, row -> row.length() > room));
    }
  }

  /**
   * Takes rows out, pool by pool.
   *
   * @param left given the rows of a pool once they have left it
   */
  void remove(Predicate<DecodeRow> leaves, Consumer<List<DecodeRow>> left) {
    for (int pool = 0; pool < pools.size(); pool++) {
      left.accept(removeAndCompact(pool, leaves));
    }
  }

  /** Takes rows out of a pool, closes the gaps, and returns those that left, in order of slots. */
  private List<DecodeRow> removeAndCompact(int pool, Predicate<DecodeRow> leaves) {
    List<DecodeRow> left = pools.get(pool).stream().filter(leaves).toList();
    if (left.isEmpty()) {
      return left;
    }
    List<DecodeRow> staying = new ArrayList<>(pools.get(pool));
    SamplingInputs inputs = draw.inputs();
    inputs.ensureCapacity(staying.size());
    int moved = 0;
    int slot = 0;
    while (slot < staying.size()) {
      if (!leaves.test(staying.get(slot))) {
        slot++;
        continue;
      }
      int last = staying.size() - 1;
      DecodeRow candidate = staying.removeLast();
      if (last != slot && !leaves.test(candidate)) {
        staying.set(slot, candidate);
        inputs.integer(0, moved, last);
        inputs.integer(1, moved, slot);
        moved++;
        slot++;
      }
    }
    if (moved > 0) {
      move(pool, pool, moved);
    }
    cache.fit(pool, staying.size(), staying.size());
    pools.set(pool, staying);
    return left;
  }

  private void move(int from, int to, int slots) {
    try (TorchProgram.Call call = decoder.call("move")) {
      call.with(cache.of(from))
          .with(cache.of(to))
          .with(draw.inputs().integers())
          .with((long) slots)
          .run();
    }
  }

  /** Frees all slots and the cache's memory, and returns the rows that were in them. */
  List<DecodeRow> clear() {
    List<DecodeRow> rows = rows();
    pools.forEach(List::clear);
    cache.clear();
    return rows;
  }

  @Override
  public void close() {
    cache.close();
    draw.close();
  }
}
