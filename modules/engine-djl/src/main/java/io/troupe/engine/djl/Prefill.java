package io.troupe.engine.djl;

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
final class Prefill {
  private final DecodeSlots slots;
  private final int budget;
  private final Optional<WeightVersion> version;
  private final Consumer<List<DecodeRow>> read;
  private final Map<IntBuffer, Integer> sequences = new LinkedHashMap<>();
  private final List<DecodeSlots.Place> places = new ArrayList<>();
  private final int[] entering;
  private int longest;
  private int current;

  /**
   * Nothing to read yet.
   *
   * @param budget most tokens of a call, padding included, unless they are one sequence's
   * @param version of the token that is drawn for each row, if one is
   * @param read given the rows of a call once it is done
   */
  Prefill(
      DecodeSlots slots,
      int budget,
      Optional<WeightVersion> version,
      Consumer<List<DecodeRow>> read) {
    this.slots = slots;
    this.budget = budget;
    this.version = version;
    this.read = read;
    this.entering = new int[slots.pools()];
  }

  /** The sequence of the rows that follow. */
  void begin(int[] sequence) {
    IntBuffer key = IntBuffer.wrap(sequence);
    int widest = Math.max(longest, sequence.length);
    boolean tooMany = (sequences.size() + 1L) * widest > budget;
    if (!sequences.containsKey(key) && tooMany) {
      finish();
    }
    longest = Math.max(longest, sequence.length);
    current = sequences.computeIfAbsent(key, _ -> sequences.size());
  }

  /** A row that is to have a slot. */
  void enter(DecodeRow row) {
    int pool = slots.poolFor(row.cached().length + 1);
    int slot = slots.size(pool) + entering[pool]++;
    places.add(new DecodeSlots.Place(row, pool, slot, current));
  }

  /** The row in a slot. */
  void stay(int pool, int slot) {
    places.add(new DecodeSlots.Place(slots.row(pool, slot), pool, slot, current));
  }

  /** Reads what has come together. */
  void finish() {
    if (!places.isEmpty()) {
      places.sort(Comparator.comparingInt(DecodeSlots.Place::pool));
      slots.read(List.copyOf(sequences.keySet()), longest, places, version);
      read.accept(places.stream().map(DecodeSlots.Place::row).toList());
    }
    sequences.clear();
    places.clear();
    Arrays.fill(entering, 0);
    longest = 0;
  }
}
