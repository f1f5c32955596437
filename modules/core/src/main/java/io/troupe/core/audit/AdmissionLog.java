package io.troupe.core.audit;

import io.troupe.core.prompt.PromptCursor;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The prompts that were admitted in each epoch: each once, or by difficulty at most once. Groups
 * are numbered in order of admission, so four bytes a group are enough to take admissions back.
 */
final class AdmissionLog {
  private int[] prompts = new int[1024];
  private int size;
  private long missing;
  private long partialEpoch = -1;
  private final SortedMap<Long, BitSet> admitted = new TreeMap<>();
  private final SortedMap<Long, Integer> firsts = new TreeMap<>();
  private OptionalInt pool = OptionalInt.empty();
  private PromptCursor cursor = PromptCursor.START;

  long count() {
    return missing + size;
  }

  /** Begins behind this many admissions that are not known. */
  void begin(long count, PromptCursor at) {
    missing = count;
    partialEpoch = at.epoch();
    cursor = at;
  }

  PromptCursor cursor() {
    return cursor;
  }

  long epochs() {
    return cursor.epoch();
  }

  /** Takes the next admission; returns what is wrong with it. */
  Optional<String> add(int prompt, long epoch, PromptCursor next) {
    BitSet ofEpoch = admitted.computeIfAbsent(epoch, _ -> new BitSet());
    firsts.putIfAbsent(epoch, size);
    boolean again = ofEpoch.get(prompt);
    boolean elsewhere = epoch != cursor.epoch();
    ofEpoch.set(prompt);
    if (size == prompts.length) {
      prompts = Arrays.copyOf(prompts, 2 * size);
    }
    prompts[size++] = prompt;
    Optional<String> jump = follow(next, ofEpoch);
    if (again) {
      return Optional.of("prompt %d is admitted twice in epoch %d".formatted(prompt, epoch));
    }
    return elsewhere ? Optional.of("prompt %d belongs to epoch %d".formatted(prompt, epoch)) : jump;
  }

  private Optional<String> follow(PromptCursor next, BitSet ofEpoch) {
    PromptCursor from = cursor;
    cursor = next;
    if (next.byDifficulty()) {
      return followChoice(from, next);
    }
    if (next.epoch() == from.epoch() && next.position() == from.position() + 1) {
      return Optional.empty();
    }
    int all = from.position() + 1;
    if (next.epoch() != from.epoch() + 1 || next.position() != 0) {
      return Optional.of(
          "the data position jumps from %d/%d to %d/%d"
              .formatted(from.epoch(), from.position(), next.epoch(), next.position()));
    }
    boolean whole = from.epoch() != partialEpoch;
    if (whole && (ofEpoch.cardinality() != all || ofEpoch.length() != all)) {
      return Optional.of(
          "epoch %d ends with %d of %d prompts admitted"
              .formatted(from.epoch(), ofEpoch.cardinality(), ofEpoch.length()));
    }
    if (pool.isPresent() && pool.getAsInt() != all) {
      return Optional.of(
          "epoch %d has %d prompts, and one before it had %d"
              .formatted(from.epoch(), all, pool.getAsInt()));
    }
    pool = OptionalInt.of(all);
    return Optional.empty();
  }

  /** Checks a choice by difficulty: a pass may leave out prompts, and ends with an admission. */
  private static Optional<String> followChoice(PromptCursor from, PromptCursor next) {
    boolean onwards = next.epoch() == from.epoch() && next.position() > from.position();
    boolean wraps = next.epoch() == from.epoch() + 1 && next.position() == 0;
    if (!onwards && !wraps) {
      return Optional.of(
          "the data position jumps from %d/%d to %d/%d"
              .formatted(from.epoch(), from.position(), next.epoch(), next.position()));
    }
    return next.chosen() == from.chosen() + 1
        ? Optional.empty()
        : Optional.of(
            "the prompts chosen by difficulty jump from %d to %d"
                .formatted(from.chosen(), next.chosen()));
  }

  /** Takes back all but the first {@code count} admissions. */
  void truncate(long count, PromptCursor at) {
    while (size > 0 && missing + size > count) {
      size--;
      long epoch = firsts.lastKey();
      BitSet ofEpoch = admitted.get(epoch);
      if (ofEpoch != null) {
        ofEpoch.clear(prompts[size]);
      }
      if (firsts.getOrDefault(epoch, 0) == size) {
        firsts.remove(epoch);
        admitted.remove(epoch);
      }
    }
    cursor = at;
  }
}
