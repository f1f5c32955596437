package io.troupe.verifiers.math;

import io.troupe.verifiers.math.parse.Expr;
import io.troupe.verifiers.math.parse.Expr.Call;
import io.troupe.verifiers.math.parse.Expr.Constant;
import io.troupe.verifiers.math.parse.Expr.InBase;
import io.troupe.verifiers.math.parse.Expr.Listing;
import io.troupe.verifiers.math.parse.Expr.Matrix;
import io.troupe.verifiers.math.parse.Expr.Ratio;
import io.troupe.verifiers.math.parse.Expr.Relation;
import io.troupe.verifiers.math.parse.Expr.SetOperation;
import io.troupe.verifiers.math.parse.Expr.Variable;
import io.troupe.verifiers.math.parse.Expr.Words;
import io.troupe.verifiers.math.parse.ParsedAnswer;
import io.troupe.verifiers.math.parse.StepBudget;
import io.troupe.verifiers.math.parse.UnresolvedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Compares answers by their structure down to scalars: tuples in order, sets and bare lists in any
 * order, intervals with their brackets, matrices element by element, relations by {@link
 * RelationComparison}. A list never equals a single answer, however often it names it.
 */
final class AnswerComparison {
  private static final int MOST_ITEMS = 64;

  private final StepBudget budget;
  private final ScalarComparison scalars;
  private final RelationComparison relations;

  AnswerComparison(StepBudget budget) {
    this.budget = budget;
    this.scalars = new ScalarComparison(budget);
    this.relations = new RelationComparison(this, scalars, budget);
  }

  /** Whether the answer is the gold. Both signs of {@code \pm} are two answers. */
  ComparisonResult compare(Expr gold, Expr answer) {
    return same(PlusMinusExpansion.expand(gold), PlusMinusExpansion.expand(answer));
  }

  ComparisonResult same(Expr gold, Expr answer) {
    budget.spend(10);
    if (gold.equals(answer)) {
      return ComparisonResult.equal("the same form");
    }
    if (gold instanceof Relation || answer instanceof Relation) {
      return relations.compare(gold, answer);
    }
    if (gold instanceof Words || answer instanceof Words) {
      return words(gold, answer);
    }
    if (gold instanceof Listing || answer instanceof Listing) {
      return listings(gold, answer);
    }
    return switch (gold) {
      case SetOperation left when answer instanceof SetOperation right -> operations(left, right);
      case Matrix left when answer instanceof Matrix right -> matrices(left, right);
      case Ratio(var left) when answer instanceof Ratio(var right) -> ordered(left, right, "ratio");
      case InBase left when answer instanceof InBase right -> inBase(left, right);
      case Expr.Numeral _, Constant _, Variable _, Call _ when isScalar(answer) ->
          scalars.compare(gold, answer);
      case Expr.Numeral _, Constant _, Variable _, Call _, Expr.Structure _ ->
          ComparisonResult.different("%s where %s is expected".formatted(kind(answer), kind(gold)));
    };
  }

  static boolean isScalar(Expr expr) {
    return !(expr instanceof Expr.Structure);
  }

  static String kind(Expr expr) {
    return switch (expr) {
      case Expr.Numeral _, Constant _ -> "a number";
      case Variable _, Call _ -> "an expression";
      case Listing listing ->
          listing.isBare() || listing.isSet() ? "a set of answers" : "a tuple or interval";
      case Matrix _ -> "a matrix";
      case Relation _ -> "a relation";
      case SetOperation _ -> "a union or difference of sets";
      case Ratio _ -> "a ratio";
      case InBase _ -> "a numeral with a base";
      case Words _ -> "words";
    };
  }

  private static ComparisonResult words(Expr gold, Expr answer) {
    Optional<String> left = word(gold);
    return left.isPresent() && left.equals(word(answer))
        ? ComparisonResult.equal("the same words")
        : ComparisonResult.different("other words");
  }

  private static Optional<String> word(Expr expr) {
    return switch (expr) {
      case Words(var text) -> Optional.of(text);
      case Variable(var name) -> Optional.of(ParsedAnswer.plainWords(name));
      case Constant(var name) ->
          switch (name) {
            case E, I -> Optional.of(ParsedAnswer.plainWords(name.name()));
            case PI, INFINITY -> Optional.empty();
          };
      case Expr.Numeral _,
          Call _,
          Listing _,
          Matrix _,
          Relation _,
          SetOperation _,
          Ratio _,
          InBase _ ->
          Optional.empty();
    };
  }

  private ComparisonResult listings(Expr gold, Expr answer) {
    if (gold instanceof Listing left && answer instanceof Listing right) {
      boolean anyOrder = (left.isBare() || left.isSet()) && (right.isBare() || right.isSet());
      if (anyOrder) {
        return unordered(left.items(), right.items());
      }
      boolean bareTuple = (left.isBare() && isTuple(right)) || (right.isBare() && isTuple(left));
      if (bareTuple || (left.open() == right.open() && left.close() == right.close())) {
        return ordered(left.items(), right.items(), "tuple or interval");
      }
      ComparisonResult asSets = relations.asSets(gold, answer);
      return asSets.isEqual() ? asSets : ComparisonResult.different("other brackets");
    }
    if (gold instanceof Listing left && left.isSet() && left.items().size() == 1) {
      return same(left.items().get(0), answer);
    }
    if (answer instanceof Listing right && right.isSet() && right.items().size() == 1) {
      return same(gold, right.items().get(0));
    }
    if (gold instanceof SetOperation || answer instanceof SetOperation) {
      return relations.asSets(gold, answer);
    }
    return answer instanceof Listing
        ? ComparisonResult.different("the answer holds several values, the gold is one")
        : ComparisonResult.different("the answer is one value, the gold holds several");
  }

  private static boolean isTuple(Listing listing) {
    return listing.open() == '(' && listing.close() == ')';
  }

  ComparisonResult unordered(List<Expr> gold, List<Expr> answer) {
    if (gold.size() != answer.size()) {
      return ComparisonResult.different(
          "%d answers where %d are expected".formatted(answer.size(), gold.size()));
    }
    if (gold.size() > MOST_ITEMS) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    List<Expr> left = new ArrayList<>(answer);
    for (Expr wanted : gold) {
      int found = -1;
      for (int i = 0; i < left.size() && found < 0; i++) {
        found = same(wanted, left.get(i)).isEqual() ? i : -1;
      }
      if (found < 0) {
        return ComparisonResult.different("an answer of the set is missing");
      }
      left.remove(found);
    }
    return ComparisonResult.equal("equal as sets of %d".formatted(gold.size()));
  }

  private ComparisonResult ordered(List<Expr> gold, List<Expr> answer, String what) {
    if (gold.size() != answer.size()) {
      return ComparisonResult.different(
          "%d elements where %d are expected".formatted(answer.size(), gold.size()));
    }
    for (int i = 0; i < gold.size(); i++) {
      ComparisonResult element = same(gold.get(i), answer.get(i));
      if (!element.isEqual()) {
        return ComparisonResult.different("element %d: %s".formatted(i + 1, element.reason()));
      }
    }
    return ComparisonResult.equal("equal element by element, as a " + what);
  }

  private ComparisonResult operations(SetOperation gold, SetOperation answer) {
    if (gold.joint() != answer.joint()) {
      return ComparisonResult.different("another operation of sets");
    }
    return gold.joint() == SetOperation.Joint.DIFFERENCE
        ? ordered(gold.parts(), answer.parts(), "difference of sets")
        : unordered(gold.parts(), answer.parts());
  }

  private ComparisonResult matrices(Matrix gold, Matrix answer) {
    if (gold.determinant() != answer.determinant() || gold.rows().size() != answer.rows().size()) {
      return ComparisonResult.different("matrices of other shapes");
    }
    for (int i = 0; i < gold.rows().size(); i++) {
      ComparisonResult row = ordered(gold.rows().get(i), answer.rows().get(i), "row");
      if (!row.isEqual()) {
        return ComparisonResult.different("row %d, %s".formatted(i + 1, row.reason()));
      }
    }
    return ComparisonResult.equal("equal element by element, as matrices");
  }

  private static ComparisonResult inBase(InBase gold, InBase answer) {
    return gold.base() == answer.base() && digits(gold).equals(digits(answer))
        ? ComparisonResult.equal("the same digits in base %d".formatted(gold.base()))
        : ComparisonResult.different("other digits or another base");
  }

  private static String digits(InBase numeral) {
    String digits = numeral.digits().toUpperCase(java.util.Locale.ROOT);
    int start = 0;
    while (start < digits.length() - 1 && digits.charAt(start) == '0') {
      start++;
    }
    return digits.substring(start);
  }
}
