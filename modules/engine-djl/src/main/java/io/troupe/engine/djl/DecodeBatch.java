package io.troupe.engine.djl;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.NativeTensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The completions being decoded together, with their cache of keys and values.
 *
 * <p><b>Rows.</b> Row i of a pool owns slot i of it. New completions come at the end; the place of
 * one that leaves is taken by the last, whose slot is copied, so that slots stay dense. A slot
 * holds prompt and all tokens but the latest, which the next step reads.
 *
 * <p><b>Budget.</b> The slots in use never have room for more than {@link ComputeSettings#kvTokens}
 * tokens together. A group joins when its prompt fits; when completions outgrow their slots and the
 * budget is taken, the youngest groups are parked: their slots are freed, and they come back, their
 * cache read again, before anyone new joins. A request that alone exceeds the budget is refused
 * before it gets here, so the oldest group always goes on, and with it everything. When memory runs
 * out in spite of it, the budget shrinks: {@link #takeLess}.
 */
final class DecodeBatch implements AutoCloseable {
  private static final int BARE_ROWS = 2;
  private static final int FULL_ROWS = 3;
  private static final int GREEDY = 1;
  private static final int FULL = 2;
  private static final int TEMPERED = 4;
  private static final int NOTHING_DRAWN = -1;

  private final Decoder decoder;
  private final SamplingWeights weights;
  private final ComputeSettings compute;
  private final Tokenizer tokenizer;
  private final StepThreads threads;
  private KvCache cache;
  private final BatchInputs inputs = new BatchInputs();
  private final NativeTensor nothingHeld = NativeTensor.zeros(DType.INT64, 0, 0);
  private final List<List<DecodeRow>> pools = new ArrayList<>();
  private final List<DecodeRow> parked = new ArrayList<>();
  private long kvTokens;
  private int readTokens;
  private long groupsJoined;

  /** A row whose sequence is read into a slot. */
  private record Place(DecodeRow row, int pool, int slot, int sequence) {}

  DecodeBatch(
      Decoder decoder, SamplingWeights weights, ComputeSettings compute, Tokenizer tokenizer) {
    this.decoder = decoder;
    this.weights = weights;
    this.compute = compute;
    this.tokenizer = tokenizer;
    this.threads = StepThreads.of(decoder, compute);
    this.kvTokens = compute.kvTokens();
    this.readTokens = compute.microBatchTokens();
    this.cache = new KvCache(decoder);
    for (int pool = 0; pool < cache.pools(); pool++) {
      pools.add(new ArrayList<>());
    }
  }

  /** The most cache a request can come to need, in tokens. */
  static long mostTokens(SampleRequest request, int context) {
    long longest = (long) request.prompt().length + request.settings().maxTokens();
    int most = (int) Math.min(context, longest);
    return DjlPolicy.cacheTokens(request.completions(), most, context);
  }

  /** Tokens that the slots in use may have room for. */
  long budget() {
    return kvTokens;
  }

  /**
   * Goes on after memory ran out, with room for half the tokens that were in use. All caches are
   * dropped; completions with a token are parked, groups without one go back to the head of the
   * line, and those that could never fit fail. No token that was drawn is lost or drawn again.
   */
  void takeLess(Deque<SampleGroup> line, RuntimeException full) {
    kvTokens = Math.max(1, Math.min(kvTokens, reserved() + growth()) / 2);
    readTokens = Math.max(2, readTokens / 2);
    List<DecodeRow> rows = rows();
    pools.forEach(List::clear);
    cache.close();
    cache = new KvCache(decoder);
    parked.addAll(rows.stream().filter(row -> row.count() > 0).toList());
    parked.sort(Comparator.comparingLong(DecodeRow::age));
    Set<SampleGroup> fresh = new LinkedHashSet<>();
    rows.stream().filter(row -> row.count() == 0).forEach(row -> fresh.add(row.group()));
    fresh.stream().toList().reversed().forEach(line::addFirst);
    parked.stream().map(DecodeRow::group).forEach(group -> failIfTooLarge(group, full));
    line.forEach(group -> failIfTooLarge(group, full));
    line.removeIf(SampleGroup::done);
    sweep();
  }

  private void failIfTooLarge(SampleGroup group, RuntimeException full) {
    long tokens = mostTokens(group.request(), decoder.settings().contextLength());
    if (tokens > kvTokens) {
      group.fail(
          new IllegalStateException(
              "%s may need a cache of %d tokens, but memory ran out with %d; ask for fewer or shorter"
                      .formatted(group.request().lease(), tokens, 2 * kvTokens)
                  + " completions, or take a device with more memory",
              full));
    }
  }

  /** Whether no row waits for a step. */
  boolean isEmpty() {
    return size() == 0;
  }

  /** How many completions are decoded. */
  int size() {
    return pools.stream().mapToInt(List::size).sum();
  }

  /** How many tokens the slots in use have room for. */
  long reserved() {
    long tokens = 0;
    for (int pool = 0; pool < pools.size(); pool++) {
      tokens += (long) pools.get(pool).size() * cache.room(pool);
    }
    return tokens;
  }

  /** Tokens that the cache's tensors have memory for. */
  long capacity() {
    return cache.capacity();
  }

  /** Completions that wait for room to come back. */
  int parked() {
    return parked.size();
  }

  /**
   * Lets finished completions leave, moves those that have outgrown their slots, and brings parked
   * ones back where there is room.
   */
  void prepare() {
    sweep();
    promote();
    resume();
  }

  /** Takes groups off the line, oldest first, while there is room for them. */
  List<SampleGroup> admit(Deque<SampleGroup> line) {
    List<SampleGroup> joining = new ArrayList<>();
    int rows = size();
    long tokens = reserved() + growth();
    while (parked.isEmpty() && !line.isEmpty()) {
      SampleRequest next = line.getFirst().request();
      rows += next.completions();
      tokens += (long) next.completions() * roomFor(next.prompt().length + 1);
      if (rows > compute.decodeRows() || tokens > kvTokens) {
        break;
      }
      joining.add(line.removeFirst());
    }
    return joining;
  }

  /**
   * Reads the prompts of groups and draws the first token of each of their completions. A prompt is
   * read once, whatever the size of its group, and also for groups that have the same.
   */
  void join(List<SampleGroup> groups, WeightVersion version) {
    Reading reading = new Reading();
    for (SampleGroup group : groups) {
      groupsJoined++;
      reading.begin(group.request().prompt(), OptionalLong.of(version.number()));
      for (int i = 0; i < group.request().completions(); i++) {
        reading.enter(new DecodeRow(group, i, decoder.settings().contextLength(), groupsJoined));
      }
    }
    reading.finish(OptionalLong.of(version.number()));
    sweep();
  }

  /** Draws one token for every completion. */
  void step(WeightVersion version) {
    List<DecodeRow> rows = rows();
    inputs.fit(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      inputs.integer(0, i, rows.get(i).latest());
      inputs.integer(1, i, rows.get(i).position());
    }
    long[] sizes = new long[2 * pools.size()];
    for (int pool = 0; pool < pools.size(); pool++) {
      sizes[2 * pool] = pools.get(pool).size();
      sizes[2 * pool + 1] = pools.get(pool).stream().mapToInt(DecodeRow::length).max().orElse(0);
    }
    threads.take(rows.size());
    try (Program.Call call = decoder.call("decode", weights)) {
      draw(call.with(cache.all()).with(sizes), rows, version);
    }
    sweep();
  }

  /** Reads all rows into the cache again, with the weights as they are now. */
  void recompute() {
    Reading reading = new Reading();
    for (int pool = 0; pool < pools.size(); pool++) {
      for (int slot = 0; slot < pools.get(pool).size(); slot++) {
        DecodeRow row = pools.get(pool).get(slot);
        reading.begin(row.cached(), OptionalLong.empty());
        reading.stay(row, pool, slot);
      }
    }
    reading.finish(OptionalLong.empty());
  }

  /** Sequences that are read in one call each time so many tokens have come together. */
  private final class Reading {
    private final Map<IntBuffer, Integer> sequences = new LinkedHashMap<>();
    private final List<Place> places = new ArrayList<>();
    private int longest;
    private int current;

    /** The sequence of the rows that follow. */
    void begin(int[] sequence, OptionalLong version) {
      IntBuffer key = IntBuffer.wrap(sequence);
      int widest = Math.max(longest, sequence.length);
      boolean tooMany = (sequences.size() + 1L) * widest > readTokens;
      if (!sequences.containsKey(key) && tooMany && !sequences.isEmpty()) {
        finish(version);
      }
      longest = Math.max(longest, sequence.length);
      current = sequences.computeIfAbsent(key, _ -> sequences.size());
    }

    /** A row that comes in. */
    void enter(DecodeRow row) {
      int pool = cache.poolFor(row.cached().length + 1);
      places.add(new Place(row, pool, pools.get(pool).size(), current));
      pools.get(pool).add(row);
    }

    /** A row that has its slot. */
    void stay(DecodeRow row, int pool, int slot) {
      places.add(new Place(row, pool, slot, current));
    }

    /** Reads what has come together; draws a token for each row if a version is given. */
    void finish(OptionalLong version) {
      if (!places.isEmpty()) {
        places.sort(Comparator.comparingInt(Place::pool));
        read(List.copyOf(sequences.keySet()), longest, places, version);
      }
      sequences.clear();
      places.clear();
      longest = 0;
    }
  }

  private void read(
      List<IntBuffer> sequences, int longest, List<Place> places, OptionalLong version) {
    inputs.fit(places.size());
    long[] sizes = new long[pools.size()];
    int[] held = new int[pools.size()];
    for (int i = 0; i < places.size(); i++) {
      Place place = places.get(i);
      sizes[place.pool]++;
      held[place.pool] = Math.max(held[place.pool], place.slot + 1);
      inputs.integer(0, i, place.sequence);
      inputs.integer(1, i, place.slot);
    }
    for (int pool = 0; pool < pools.size(); pool++) {
      int before = pools.get(pool).size() - (int) sizes[pool];
      cache.fit(pool, Math.max(pools.get(pool).size(), held[pool]), Math.max(0, before));
    }
    threads.take((long) sequences.size() * longest);
    try (NativeTensor ids = NativeTensor.zeros(DType.INT64, sequences.size(), longest);
        NativeTensor lengths = NativeTensor.zeros(DType.INT64, sequences.size());
        Program.Call call = decoder.call("prefill", weights)) {
      MemorySegment target = ids.memory();
      for (int p = 0; p < sequences.size(); p++) {
        IntBuffer sequence = sequences.get(p);
        lengths.memory().setAtIndex(ValueLayout.JAVA_LONG, p, sequence.limit());
        for (int t = 0; t < sequence.limit(); t++) {
          target.setAtIndex(ValueLayout.JAVA_LONG, (long) p * longest + t, sequence.get(t));
        }
      }
      call.with(cache.all()).with(sizes).with(ids).with(lengths);
      if (version.isPresent()) {
        List<DecodeRow> rows = places.stream().map(Place::row).toList();
        draw(call, rows, new WeightVersion(version.getAsLong()));
      } else {
        call.with(inputs.integers()).with(inputs.numbers());
        call.with((long) places.size()).with((long) NOTHING_DRAWN).with(nothingHeld).run();
      }
    }
  }

  /** Ends a call that draws a token for each row, and hands the tokens out. */
  private void draw(Program.Call call, List<DecodeRow> rows, WeightVersion version) {
    int n = rows.size();
    int flags = 0;
    for (int i = 0; i < n; i++) {
      inputs.draw(i, rows.get(i));
      flags |= flags(rows.get(i));
    }
    int kinds = (flags & FULL) != 0 ? FULL_ROWS : BARE_ROWS;
    try (NativeTensor held = held(rows);
        NativeTensor drawn =
            call.with(inputs.integers())
                .with(inputs.numbers())
                .with((long) n)
                .with((long) flags)
                .with(held)
                .tensor(DType.FLOAT64, (long) kinds * n)) {
      MemorySegment numbers = drawn.memory();
      for (int i = 0; i < n; i++) {
        int token = (int) numbers.getAtIndex(ValueLayout.JAVA_DOUBLE, i);
        double logProb = numbers.getAtIndex(ValueLayout.JAVA_DOUBLE, (long) n + i);
        double raw = numbers.getAtIndex(ValueLayout.JAVA_DOUBLE, (kinds - 1L) * n + i);
        if (!rows.get(i).done()) {
          rows.get(i).accept(token, logProb, raw, version, tokenizer);
        }
      }
    }
  }

  private static int flags(DecodeRow row) {
    boolean full =
        row.settings().truncates() || row.settings().penalises() || row.settings().rawLogProbs();
    return (row.settings().isGreedy() ? GREEDY : 0)
        | (full ? FULL : 0)
        | (row.temperature() != 1 ? TEMPERED : 0);
  }

  /** The ids that each row holds, where some row's repetitions are penalised; else of no width. */
  private static NativeTensor held(List<DecodeRow> rows) {
    int width =
        rows.stream()
            .filter(row -> row.settings().penalises())
            .mapToInt(DecodeRow::length)
            .max()
            .orElse(0);
    NativeTensor held = NativeTensor.zeros(DType.INT64, rows.size(), width);
    if (width > 0) {
      MemorySegment ids = held.memory();
      for (int i = 0; i < rows.size(); i++) {
        DecodeRow row = rows.get(i);
        for (int t = 0; t < width; t++) {
          long id = row.token(row.settings().penalises() && t < row.length() ? t : 0);
          ids.setAtIndex(ValueLayout.JAVA_LONG, (long) i * width + t, id);
        }
      }
    }
    return held;
  }

  /** Lets finished completions leave. */
  void sweep() {
    for (int pool = 0; pool < pools.size(); pool++) {
      compact(pool, DecodeRow::done);
    }
    parked.removeIf(DecodeRow::done);
  }

  /** Moves rows that the next token would not fit to the next pool. */
  private void promote() {
    while (reserved() + growth() > kvTokens) {
      parkYoungest();
    }
    for (int pool = pools.size() - 2; pool >= 0; pool--) {
      int room = cache.room(pool);
      List<DecodeRow> rows = pools.get(pool);
      List<DecodeRow> target = pools.get(pool + 1);
      int first = target.size();
      inputs.fit(rows.size());
      for (int slot = 0; slot < rows.size(); slot++) {
        if (rows.get(slot).length() > room) {
          inputs.integer(0, target.size() - first, slot);
          inputs.integer(1, target.size() - first, target.size());
          target.add(rows.get(slot));
        }
      }
      if (target.size() > first) {
        cache.fit(pool + 1, target.size(), first);
        move(pool, pool + 1, target.size() - first);
        compact(pool, row -> row.length() > room);
      }
    }
  }

  /** Tokens by which the slots grow before the next step. */
  private long growth() {
    long tokens = 0;
    for (int pool = 0; pool < pools.size() - 1; pool++) {
      int room = cache.room(pool);
      long outgrown = pools.get(pool).stream().filter(row -> row.length() > room).count();
      tokens += outgrown * (cache.room(pool + 1) - room);
    }
    return tokens;
  }

  private void parkYoungest() {
    long youngest = rows().stream().mapToLong(DecodeRow::age).max().orElseThrow();
    if (rows().stream().allMatch(row -> row.age() == youngest)) {
      throw new IllegalStateException("a group outgrew the whole cache, and was not refused");
    }
    rows().stream().filter(row -> row.age() == youngest).forEach(parked::add);
    parked.sort(Comparator.comparingLong(DecodeRow::age));
    for (int pool = 0; pool < pools.size(); pool++) {
      compact(pool, row -> row.age() == youngest);
    }
  }

  private void resume() {
    while (!parked.isEmpty()) {
      long oldest = parked.getFirst().age();
      List<DecodeRow> group = parked.stream().filter(row -> row.age() == oldest).toList();
      long tokens = group.stream().mapToLong(row -> roomFor(row.length())).sum();
      if (size() + group.size() > compute.decodeRows() || reserved() + tokens > kvTokens) {
        return;
      }
      parked.subList(0, group.size()).clear();
      Reading reading = new Reading();
      for (DecodeRow row : group) {
        reading.begin(row.cached(), OptionalLong.empty());
        reading.enter(row);
      }
      reading.finish(OptionalLong.empty());
    }
  }

  private int roomFor(int tokens) {
    return cache.room(cache.poolFor(tokens));
  }

  private List<DecodeRow> rows() {
    return pools.stream().flatMap(List::stream).toList();
  }

  /** Takes rows out of a pool and closes the gaps. */
  private void compact(int pool, Predicate<DecodeRow> leaves) {
    List<DecodeRow> rows = pools.get(pool);
    inputs.fit(rows.size());
    int moved = 0;
    int slot = 0;
    while (slot < rows.size()) {
      if (!leaves.test(rows.get(slot))) {
        slot++;
        continue;
      }
      int last = rows.size() - 1;
      DecodeRow candidate = rows.removeLast();
      if (last != slot && !leaves.test(candidate)) {
        rows.set(slot, candidate);
        inputs.integer(0, moved, last);
        inputs.integer(1, moved, slot);
        moved++;
        slot++;
      }
    }
    if (moved > 0) {
      move(pool, pool, moved);
    }
    cache.fit(pool, rows.size(), rows.size());
  }

  private void move(int from, int to, int slots) {
    try (Program.Call call = decoder.call("move")) {
      call.with(cache.of(from)).with(cache.of(to)).with(inputs.integers()).with((long) slots).run();
    }
  }

  @Override
  public void close() {
    cache.close();
    inputs.close();
    nothingHeld.close();
  }
}
