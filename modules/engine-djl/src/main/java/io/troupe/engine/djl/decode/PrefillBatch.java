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

/**
 * Collects the sequences of a prefill and computes their keys and values in calls of bounded size.
 */
final class PrefillBatch {
  private final DecodeSlots slots;
  private final int maxTokens;
  private final Optional<WeightVersion> version;
  private final Consumer<List<DecodeRow>> onPrefilled;
  private final Map<IntBuffer, Integer> sequences = new LinkedHashMap<>();
  private final List<DecodeSlots.SlotAssignment> assignments = new ArrayList<>();
  private final int[] nextSlot;
  private int longest;
  private int room;
  private int currentSequence;

  /**
   * Creates an empty batch.
   *
   * @param maxTokens most tokens of a call, padding included; a single longer sequence has a call
   *     of its own
   * @param version of the weights, if the call also samples a token for each row
   * @param onPrefilled receives the rows of a call after the call
   */
  PrefillBatch(
      DecodeSlots slots,
      int maxTokens,
      Optional<WeightVersion> version,
      Consumer<List<DecodeRow>> onPrefilled) {
    this.slots = slots;
    this.maxTokens = maxTokens;
    this.version = version;
    this.onPrefilled = onPrefilled;
    this.nextSlot = new int[slots.pools()];
  }

  /** Begins the sequence of the rows that are added next. */
  void startSequence(int[] sequence) {
    IntBuffer key = IntBuffer.wrap(sequence);
    int ownRoom = slots.prefillRoom(sequence.length);
    int width = Math.max(Math.max(longest, ownRoom), sequence.length);
    boolean exceeds = (sequences.size() + 1L) * width > maxTokens;
    if (ownRoom != room || (!sequences.containsKey(key) && exceeds)) {
      flush();
    }
    room = ownRoom;
    longest = Math.max(Math.max(longest, ownRoom), sequence.length);
    currentSequence = sequences.computeIfAbsent(key, _ -> sequences.size());
  }

  /** Adds a row that gets a new slot. */
  void add(DecodeRow row) {
    int pool = slots.poolFor(row.cachedTokens().length + 1);
    int slot = slots.size(pool) + nextSlot[pool]++;
    assignments.add(new DecodeSlots.SlotAssignment(row, pool, slot, currentSequence));
  }

  /** Adds the row that is in a slot already. */
  void addInPlace(int pool, int slot) {
    assignments.add(
        new DecodeSlots.SlotAssignment(slots.row(pool, slot), pool, slot, currentSequence));
  }

  /** Prefills the collected sequences. */
  void flush() {
    if (!assignments.isEmpty()) {
      assignments.sort(Comparator.comparingInt(DecodeSlots.SlotAssignment::pool));
      slots.prefill(List.copyOf(sequences.keySet()), longest, assignments, version);
      onPrefilled.accept(assignments.stream().map(DecodeSlots.SlotAssignment::row).toList());
    }
    sequences.clear();
    assignments.clear();
    Arrays.fill(nextSlot, 0);
    longest = 0;
  }
}
