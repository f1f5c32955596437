package io.troupe.verifiers.math;

import io.troupe.verifiers.math.parse.Expr;
import io.troupe.verifiers.math.parse.Expr.Call;
import io.troupe.verifiers.math.parse.Expr.Listing;
import io.troupe.verifiers.math.parse.Expr.Relation;
import io.troupe.verifiers.math.parse.Operator;
import java.util.ArrayList;
import java.util.List;

/**
 * Expands {@code a \pm b} to its two answers. All signs of one answer are the upper ones, or all
 * are the lower ones.
 */
final class PlusMinusExpansion {
  private PlusMinusExpansion() {}

  static Expr expand(Expr expr) {
    if (expr instanceof Listing listing && (listing.isBare() || listing.isSet())) {
      List<Expr> items = new ArrayList<>();
      for (Expr item : listing.items()) {
        if (isIn(item)) {
          items.add(with(item, true));
          items.add(with(item, false));
        } else {
          items.add(item);
        }
      }
      return new Listing(listing.open(), listing.close(), items);
    }
    return isIn(expr) ? new Listing(' ', ' ', List.of(with(expr, true), with(expr, false))) : expr;
  }

  private static boolean isIn(Expr expr) {
    return switch (expr) {
      case Call(var operator, var arguments) ->
          operator.isPlusMinus() || arguments.stream().anyMatch(PlusMinusExpansion::isIn);
      case Listing(_, _, var items) -> items.stream().anyMatch(PlusMinusExpansion::isIn);
      case Relation(_, var sides) -> sides.stream().anyMatch(PlusMinusExpansion::isIn);
      case Expr.Numeral _,
          Expr.Constant _,
          Expr.Variable _,
          Expr.Matrix _,
          Expr.SetOperation _,
          Expr.Ratio _,
          Expr.InBase _,
          Expr.Words _ ->
          false;
    };
  }

  private static Expr with(Expr expr, boolean upper) {
    return switch (expr) {
      case Call(var operator, var arguments) -> {
        List<Expr> chosen = arguments.stream().map(e -> with(e, upper)).toList();
        yield operator.isPlusMinus()
            ? (operator == Operator.PLUS_OR_MINUS) == upper
                ? chosen.get(0)
                : new Call(Operator.NEGATE, chosen)
            : new Call(operator, chosen);
      }
      case Listing(var open, var close, var items) ->
          new Listing(open, close, items.stream().map(e -> with(e, upper)).toList());
      case Relation(var signs, var sides) ->
          new Relation(signs, sides.stream().map(e -> with(e, upper)).toList());
      case Expr.Numeral _,
          Expr.Constant _,
          Expr.Variable _,
          Expr.Matrix _,
          Expr.SetOperation _,
          Expr.Ratio _,
          Expr.InBase _,
          Expr.Words _ ->
          expr;
    };
  }
}
