package io.troupe.verifiers.math;

import io.troupe.verifiers.math.Expr.Call;
import io.troupe.verifiers.math.Expr.Constant;
import io.troupe.verifiers.math.Expr.InBase;
import io.troupe.verifiers.math.Expr.Listing;
import io.troupe.verifiers.math.Expr.Matrix;
import io.troupe.verifiers.math.Expr.Ratio;
import io.troupe.verifiers.math.Expr.Relation;
import io.troupe.verifiers.math.Expr.SetOperation;
import io.troupe.verifiers.math.Expr.Variable;
import io.troupe.verifiers.math.Expr.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Compares answers by their structure down to scalars: tuples in order, sets and bare lists in any
 * order, intervals with their brackets, matrices element by element, relations by {@link
 * Relations}. A list never equals a single answer, however often it names it.
 */
final class Comparison {
  private static final int MOST_ITEMS = 64;

  private final Budget budget;
  private final Scalars scalars;
  private final Relations relations;

  Comparison(Budget budget) {
    this.budget = budget;
    this.scalars = new Scalars(budget);
    this.relations = new Relations(this, scalars, budget);
  }

  /** Whether the answer is the gold. Both signs of {@code \pm} are two answers. */
  Finding compare(Expr gold, Expr answer) {
    return same(PlusMinus.expand(gold), PlusMinus.expand(answer));
  }

  Finding same(Expr gold, Expr answer) {
    budget.spend(10);
    if (gold.equals(answer)) {
      return Finding.equal("the same form");
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
      case SetOperation _,
          Matrix _,
          Ratio _,
          InBase _,
          Expr.Numeral _,
          Constant _,
          Variable _,
          Call _,
          Words _,
          Listing _,
          Relation _ ->
          Finding.different("%s where %s is expected".formatted(kind(answer), kind(gold)));
    };
  }

  static boolean isScalar(Expr expr) {
    return switch (expr) {
      case Expr.Numeral _, Constant _, Variable _, Call _ -> true;
      case Listing _, Matrix _, Relation _, SetOperation _, Ratio _, InBase _, Words _ -> false;
    };
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

  private static Finding words(Expr gold, Expr answer) {
    Optional<String> left = word(gold);
    return left.isPresent() && left.equals(word(answer))
        ? Finding.equal("the same words")
        : Finding.different("other words");
  }

  private static Optional<String> word(Expr expr) {
    return switch (expr) {
      case Words(var text) -> Optional.of(text);
      case Variable(var name) -> Optional.of(Answer.plainWords(name));
      case Constant(var name) ->
          switch (name) {
            case E, I -> Optional.of(Answer.plainWords(name.name()));
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

  private Finding listings(Expr gold, Expr answer) {
    if (gold instanceof Listing left && answer instanceof Listing right) {
      boolean anyOrder = (left.isBare() || left.isSet()) && (right.isBare() || right.isSet());
      if (anyOrder) {
        return unordered(left.items(), right.items());
      }
      boolean bareTuple = (left.isBare() && isTuple(right)) || (right.isBare() && isTuple(left));
      if (bareTuple || (left.open() == right.open() && left.close() == right.close())) {
        return ordered(left.items(), right.items(), "tuple or interval");
      }
      Finding asSets = relations.asSets(gold, answer);
      return asSets.isEqual() ? asSets : Finding.different("other brackets");
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
        ? Finding.different("the answer holds several values, the gold is one")
        : Finding.different("the answer is one value, the gold holds several");
  }

  private static boolean isTuple(Listing listing) {
    return listing.open() == '(' && listing.close() == ')';
  }

  Finding unordered(List<Expr> gold, List<Expr> answer) {
    if (gold.size() != answer.size()) {
      return Finding.different(
          "%d answers where %d are expected".formatted(answer.size(), gold.size()));
    }
    if (gold.size() > MOST_ITEMS) {
      throw new Unresolved(Unresolved.Why.TOO_LARGE);
    }
    List<Expr> left = new ArrayList<>(answer);
    for (Expr wanted : gold) {
      int found = -1;
      for (int i = 0; i < left.size() && found < 0; i++) {
        found = same(wanted, left.get(i)).isEqual() ? i : -1;
      }
      if (found < 0) {
        return Finding.different("an answer of the set is missing");
      }
      left.remove(found);
    }
    return Finding.equal("equal as sets of %d".formatted(gold.size()));
  }

  private Finding ordered(List<Expr> gold, List<Expr> answer, String what) {
    if (gold.size() != answer.size()) {
      return Finding.different(
          "%d elements where %d are expected".formatted(answer.size(), gold.size()));
    }
    for (int i = 0; i < gold.size(); i++) {
      Finding element = same(gold.get(i), answer.get(i));
      if (!element.isEqual()) {
        return Finding.different("element %d: %s".formatted(i + 1, element.reason()));
      }
    }
    return Finding.equal("equal element by element, as a " + what);
  }

  private Finding operations(SetOperation gold, SetOperation answer) {
    if (gold.joint() != answer.joint()) {
      return Finding.different("another operation of sets");
    }
    return gold.joint() == SetOperation.Joint.DIFFERENCE
        ? ordered(gold.parts(), answer.parts(), "difference of sets")
        : unordered(gold.parts(), answer.parts());
  }

  private Finding matrices(Matrix gold, Matrix answer) {
    if (gold.determinant() != answer.determinant() || gold.rows().size() != answer.rows().size()) {
      return Finding.different("matrices of other shapes");
    }
    for (int i = 0; i < gold.rows().size(); i++) {
      Finding row = ordered(gold.rows().get(i), answer.rows().get(i), "row");
      if (!row.isEqual()) {
        return Finding.different("row %d, %s".formatted(i + 1, row.reason()));
      }
    }
    return Finding.equal("equal element by element, as matrices");
  }

  private static Finding inBase(InBase gold, InBase answer) {
    return gold.base() == answer.base() && digits(gold).equals(digits(answer))
        ? Finding.equal("the same digits in base %d".formatted(gold.base()))
        : Finding.different("other digits or another base");
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
