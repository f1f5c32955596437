package io.troupe.engine.djl.decode;

import io.troupe.core.weights.WeightVersion;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Sequences that are read into slots, in one call each time so many tokens have come together. */
final class PrefillBatch {
  private final DecodeSlots slots;
  private final int budget;
  private final Optional<WeightVersion> version;
  private final Consumer<List<DecodeRow>> read;
  private final Map<IntBuffer, Integer> sequences = new LinkedHashMap<>();
  private final List<DecodeSlots.SlotAssignment> places = new ArrayList<>();
  private final int[] nextSlot;
  private int longest;
  private int current;

  /**
   * Nothing to read yet.
   *
   * @param budget most tokens of a call, padding included, unless they are one sequence's
   * @param version of the token that is drawn for each row, if one is
   * @param read given the rows of a call once it is done
   */
  PrefillBatch(
      DecodeSlots slots,
      int budget,
      Optional<WeightVersion> version,
      Consumer<List<DecodeRow>> read) {
    this.slots = slots;
    this.budget = budget;
    this.version = version;
    this.read = read;
    this.nextSlot = new int[slots.pools()];
  }

  /** The sequence of the rows that follow. */
  void startSequence(int[] sequence) {
    IntBuffer key = IntBuffer.wrap(sequence);
    int widest = Math.max(longest, sequence.length);
    boolean tooMany = (sequences.size() + 1L) * widest > budget;
    if (!sequences.containsKey(key) && tooMany) {
      flush();
    }
    longest = Math.max(longest, sequence.length);
    current = sequences.computeIfAbsent(key, _ -> sequences.size());
  }

  /** A row that is to have a slot. */
  void add(DecodeRow row) {
    int pool = slots.poolFor(row.cachedTokens().length + 1);
    int slot = slots.size(pool) + nextSlot[pool]++;
    places.add(new DecodeSlots.SlotAssignment(row, pool, slot, current));
  }

  /** The row in a slot. */
  void addInPlace(int pool, int slot) {
    places.add(new DecodeSlots.SlotAssignment(slots.row(pool, slot), pool, slot, current));
  }

  /** Reads what has come together. */
  void flush() {
    if (!places.isEmpty()) {
      places.sort(Comparator.comparingInt(DecodeSlots.SlotAssignment::pool));
      slots.read(List.copyOf(sequences.keySet()), longest, places, version);
      read.accept(places.stream().map(DecodeSlots.SlotAssignment::row).toList());
    }
    sequences.clear();
    places.clear();
    Arrays.fill(nextSlot, 0);
    longest = 0;
  }
}
