package io.troupe.tasks.supervised;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.core.supervised.SupervisedExample;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Rows to train on, and rows that are only measured.
 *
 * @param train at least one
 * @param heldOut may be empty
 */
public record SupervisedSet(List<SupervisedRow> train, List<SupervisedRow> heldOut) {
  public SupervisedSet {
    train = List.copyOf(train);
    heldOut = List.copyOf(heldOut);
  }

  /**
   * Examples of a context, and what did not fit.
   *
   * @param tooLong ids of the rows that are left out
   * @param unread why the policy cannot read the others that are left out, by their ids
   */
  public record Fitting(
      List<SupervisedExample> examples, List<String> tooLong, Map<String, String> unread) {
    public Fitting {
      examples = List.copyOf(examples);
      tooLong = List.copyOf(tooLong);
      unread = Map.copyOf(unread);
    }

    /** Returns these examples, and those of other rows. */
    public Fitting and(Fitting others) {
      List<SupervisedExample> all = new ArrayList<>(examples);
      all.addAll(others.examples);
      List<String> allLong = new ArrayList<>(tooLong);
      allLong.addAll(others.tooLong);
      Map<String, String> allUnread = new HashMap<>(unread);
      allUnread.putAll(others.unread);
      return new Fitting(all, allLong, allUnread);
    }
  }

  /**
   * Holds out the share of the rows whose ids have the smallest seeded hashes, so that most of them
   * stay held out when the data grow.
   */
  public static SupervisedSet split(List<SupervisedRow> rows, double share, long seed) {
    Set<String> held = new HashSet<>();
    rows.stream()
        .sorted(
            Comparator.comparingLong((SupervisedRow row) -> hash(row.id(), seed))
                .thenComparing(SupervisedRow::id))
        .limit(Math.round(share * rows.size()))
        .forEach(row -> held.add(row.id()));
    return new SupervisedSet(
        rows.stream().filter(row -> !held.contains(row.id())).toList(),
        rows.stream().filter(row -> held.contains(row.id())).toList());
  }

  private static long hash(String id, long seed) {
    long hash = mix(seed);
    for (int i = 0; i < id.length(); i++) {
      hash = mix(hash ^ id.charAt(i));
    }
    return hash;
  }

  /** The characters of all texts, each once, in code point order. */
  public String alphabet() {
    Set<Integer> characters = new TreeSet<>();
    for (List<SupervisedRow> rows : List.of(train, heldOut)) {
      for (SupervisedRow row : rows) {
        if (row instanceof SupervisedRow.Text text) {
          (text.prompt() + text.completion()).codePoints().forEach(characters::add);
        }
      }
    }
    StringBuilder alphabet = new StringBuilder();
    characters.forEach(alphabet::appendCodePoint);
    return alphabet.toString();
  }

  /**
   * Returns the examples of rows.
   *
   * @param context most tokens of an example
   */
  public static Fitting examples(List<SupervisedRow> rows, SupervisedTokens tokens, int context) {
    List<SupervisedExample> fitting = new ArrayList<>();
    List<String> tooLong = new ArrayList<>();
    Map<String, String> unread = new HashMap<>();
    for (SupervisedRow row : rows) {
      List<SupervisedExample> examples;
      try {
        examples = tokens.examples(row);
      } catch (IllegalArgumentException foreign) {
        unread.put(row.id(), String.valueOf(foreign.getMessage()));
        continue;
      }
      if (examples.stream().allMatch(example -> example.length() <= context)) {
        fitting.addAll(examples);
      } else {
        tooLong.add(row.id());
      }
    }
    return new Fitting(fitting, tooLong, unread);
  }
}
