package io.troupe.tasks.supervised;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.core.supervised.SupervisedExample;
import io.troupe.tasks.rows.TaskDataException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Rows to train on, and rows that are only measured.
 *
 * @param train at least one
 * @param heldOut may be empty
 * @param refused sentences about rows that break a rule, and are left out
 */
public record SupervisedSet(
    List<SupervisedRow> train, List<SupervisedRow> heldOut, List<String> refused) {
  public SupervisedSet {
    train = List.copyOf(train);
    heldOut = List.copyOf(heldOut);
    refused = List.copyOf(refused);
  }

  /** Rows of which none was refused. */
  public SupervisedSet(List<SupervisedRow> train, List<SupervisedRow> heldOut) {
    this(train, heldOut, List.of());
  }

  /**
   * Examples of a context, and what did not fit.
   *
   * @param tooLong ids of the rows that are left out
   */
  public record Fitting(List<SupervisedExample> examples, List<String> tooLong) {
    public Fitting {
      examples = List.copyOf(examples);
      tooLong = List.copyOf(tooLong);
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
   * @throws TaskDataException if the policy cannot read a row; names it
   */
  public static Fitting examples(List<SupervisedRow> rows, SupervisedTokens tokens, int context) {
    List<SupervisedExample> fitting = new ArrayList<>();
    List<String> tooLong = new ArrayList<>();
    for (SupervisedRow row : rows) {
      List<SupervisedExample> examples;
      try {
        examples = tokens.examples(row);
      } catch (IllegalArgumentException foreign) {
        throw new TaskDataException(
            "row %s cannot be read by this policy: %s".formatted(row.id(), foreign.getMessage()));
      }
      if (examples.stream().allMatch(example -> example.length() <= context)) {
        fitting.addAll(examples);
      } else {
        tooLong.add(row.id());
      }
    }
    return new Fitting(fitting, tooLong);
  }
}
