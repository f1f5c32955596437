package io.troupe.engine.djl;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.NativeTensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The completions being decoded together, with their cache of keys and values.
 *
 * <p><b>Rows.</b> Completion i of {@code rows} owns row i of every cache tensor, [capacity,
 * context, kv_heads * head_dim]. New completions come at the end; the place of one that leaves is
 * taken by the last, whose cache row is copied, so that rows stay dense and no completion's cache
 * moves more than the others leave. A row's cache holds its prompt and all its tokens but the
 * latest, which the next step reads.
 */
final class DecodeBatch implements AutoCloseable {
  private static final int FIRST_CAPACITY = 16;
  private static final int INTEGERS = 3;
  private static final int NUMBERS = 2;

  private final Decoder decoder;
  private final Weights weights;
  private final ComputeSettings compute;
  private final int endOfSequence;
  private final List<DecodeRow> rows = new ArrayList<>();
  private Storage storage;

  DecodeBatch(Decoder decoder, Weights weights, ComputeSettings compute, int endOfSequence) {
    this.decoder = decoder;
    this.weights = weights;
    this.compute = compute;
    this.endOfSequence = endOfSequence;
    this.storage = Storage.of(decoder.settings(), Math.min(FIRST_CAPACITY, compute.decodeRows()));
  }

  /** Tensors with room for a number of rows. */
  private record Storage(
      int capacity,
      List<NativeTensor> tensors,
      Value caches,
      NativeTensor integerTensor,
      NativeTensor numberTensor,
      Value integers,
      Value numbers,
      MemorySegment integerMemory,
      MemorySegment numberMemory)
      implements AutoCloseable {
    static Storage of(DecoderSettings s, int capacity) {
      List<NativeTensor> tensors = new ArrayList<>();
      for (int i = 0; i < 2 * s.layers(); i++) {
        tensors.add(
            NativeTensor.zeros(
                DType.FLOAT32, capacity, s.contextLength(), (long) s.kvHeads() * s.headDim()));
      }
      NativeTensor integers = NativeTensor.zeros(DType.INT64, INTEGERS, capacity);
      NativeTensor numbers = NativeTensor.zeros(DType.FLOAT64, NUMBERS, capacity);
      return new Storage(
          capacity,
          tensors,
          Value.of(tensors),
          integers,
          numbers,
          Value.of(integers),
          Value.of(numbers),
          integers.memory(),
          numbers.memory());
    }

    void integer(int kind, int i, long value) {
      integerMemory.setAtIndex(ValueLayout.JAVA_LONG, (long) kind * capacity + i, value);
    }

    void number(int kind, int i, double value) {
      numberMemory.setAtIndex(ValueLayout.JAVA_DOUBLE, (long) kind * capacity + i, value);
    }

    /** Copies the first rows of the caches; a row is contiguous, and rows follow each other. */
    void copyRows(Storage from, int count) {
      for (int i = 0; i < tensors.size(); i++) {
        MemorySegment source = from.tensors.get(i).memory();
        long bytes = source.byteSize() / from.capacity * count;
        tensors.get(i).memory().copyFrom(source.asSlice(0, bytes));
      }
    }

    @Override
    public void close() {
      caches.close();
      integers.close();
      numbers.close();
      tensors.forEach(NativeTensor::close);
      integerTensor.close();
      numberTensor.close();
    }
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** How many more completions may join. */
  int room() {
    return compute.decodeRows() - rows.size();
  }

  /**
   * Reads the prompts of groups and draws the first token of each of their completions. A prompt is
   * read once, whatever the size of its group.
   */
  void join(List<SampleGroup> groups, WeightVersion version) {
    int from = 0;
    int longest = 0;
    for (int i = 0; i < groups.size(); i++) {
      int length = groups.get(i).request().prompt().length;
      longest = Math.max(longest, length);
      if ((long) (i + 1 - from) * longest > compute.microBatchTokens() && i > from) {
        prefill(groups.subList(from, i), version);
        from = i;
        longest = length;
      }
    }
    if (from < groups.size()) {
      prefill(groups.subList(from, groups.size()), version);
    }
    sweep();
  }

  /** Draws one token for every completion. */
  void step(WeightVersion version) {
    int n = rows.size();
    int longest = 0;
    for (int i = 0; i < n; i++) {
      DecodeRow row = rows.get(i);
      storage.integer(0, i, row.latest());
      storage.integer(1, i, row.position());
      storage.integer(2, i, row.greedy() ? 1 : 0);
      longest = Math.max(longest, row.position() + 1);
    }
    long greedy = writeDraws(0, n);
    try (Program.Call call = decoder.call("decode", weights)) {
      accept(
          call.with(storage.caches)
              .with(storage.integers)
              .with(storage.numbers)
              .with((long) n)
              .with((long) longest)
              .with(greedy)
              .tensor(DType.FLOAT64, 2L * n),
          0,
          version);
    }
    sweep();
  }

  private void prefill(List<SampleGroup> groups, WeightVersion version) {
    int first = rows.size();
    for (SampleGroup group : groups) {
      for (int i = 0; i < group.request().completions(); i++) {
        rows.add(new DecodeRow(group, i, decoder.settings().contextLength()));
      }
    }
    int n = rows.size() - first;
    grow(rows.size());
    int longest = groups.stream().mapToInt(g -> g.request().prompt().length).max().orElseThrow();
    try (NativeTensor ids = NativeTensor.zeros(DType.INT64, groups.size(), longest);
        NativeTensor lengths = NativeTensor.zeros(DType.INT64, groups.size())) {
      writePrompts(groups, longest, ids.memory(), lengths.memory());
      for (int i = 0; i < n; i++) {
        storage.integer(1, i, rows.get(first + i).greedy() ? 1 : 0);
      }
      long greedy = writeDraws(first, n);
      try (Program.Call call = decoder.call("prefill", weights)) {
        accept(
            call.with(storage.caches)
                .with(ids)
                .with(lengths)
                .with(storage.integers)
                .with(storage.numbers)
                .with((long) first)
                .with((long) n)
                .with(greedy)
                .tensor(DType.FLOAT64, 2L * n),
            first,
            version);
      }
    }
  }

  private void writePrompts(
      List<SampleGroup> groups, int longest, MemorySegment ids, MemorySegment lengths) {
    int row = 0;
    for (int p = 0; p < groups.size(); p++) {
      int[] prompt = groups.get(p).request().prompt();
      lengths.setAtIndex(ValueLayout.JAVA_LONG, p, prompt.length);
      for (int t = 0; t < prompt.length; t++) {
        ids.setAtIndex(ValueLayout.JAVA_LONG, (long) p * longest + t, prompt[t]);
      }
      for (int i = 0; i < groups.get(p).request().completions(); i++) {
        storage.integer(0, row++, p);
      }
    }
  }

  /** Writes uniform numbers and temperatures of n rows; returns whether any of them is greedy. */
  private long writeDraws(int first, int n) {
    long greedy = 0;
    for (int i = 0; i < n; i++) {
      DecodeRow row = rows.get(first + i);
      storage.number(0, i, row.uniform());
      storage.number(1, i, row.temperature());
      greedy |= row.greedy() ? 1 : 0;
    }
    return greedy;
  }

  private void accept(NativeTensor drawn, int first, WeightVersion version) {
    try (drawn) {
      MemorySegment numbers = drawn.memory();
      int n = rows.size() - first;
      for (int i = 0; i < n; i++) {
        int token = (int) numbers.getAtIndex(ValueLayout.JAVA_DOUBLE, i);
        double logProb = numbers.getAtIndex(ValueLayout.JAVA_DOUBLE, (long) n + i);
        DecodeRow row = rows.get(first + i);
        if (!row.done()) {
          row.accept(token, logProb, version, endOfSequence);
        }
      }
    }
  }

  /** Lets finished completions leave. */
  void sweep() {
    int moved = 0;
    int i = 0;
    while (i < rows.size()) {
      if (!rows.get(i).done()) {
        i++;
        continue;
      }
      int last = rows.size() - 1;
      DecodeRow candidate = rows.removeLast();
      if (last != i && !candidate.done()) {
        rows.set(i, candidate);
        storage.integer(0, moved, last);
        storage.integer(1, moved, i);
        moved++;
        i++;
      }
    }
    if (moved > 0) {
      try (Program.Call call = decoder.call("move")) {
        call.with(storage.caches).with(storage.integers).with((long) moved).run();
      }
    }
  }

  private void grow(int needed) {
    if (needed > storage.capacity) {
      int capacity = Math.min(compute.decodeRows(), Math.max(needed, 2 * storage.capacity));
      Storage bigger = Storage.of(decoder.settings(), capacity);
      bigger.copyRows(storage, Math.min(rows.size(), storage.capacity));
      storage.close();
      storage = bigger;
    }
  }

  @Override
  public void close() {
    storage.close();
  }
}
