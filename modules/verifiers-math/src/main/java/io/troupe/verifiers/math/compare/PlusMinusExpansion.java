package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Operator;
import java.util.ArrayList;
import java.util.List;

/**
 * Expands {@code a \pm b} to its two answers. All signs of one answer are the upper ones, or all
 * are the lower ones. A bound with two signs, as in {@code x>\pm2}, says nothing that is sure.
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
      return new Listing(listing.open(), listing.close(), items, listing.joined());
    }
    return isIn(expr) ? Listing.bare(List.of(with(expr, true), with(expr, false))) : expr;
  }

  private static boolean isIn(Expr expr) {
    if (expr instanceof Relation(var signs, _) && signs.stream().anyMatch(Sign::isOrder)) {
      return false;
    }
    boolean here = expr instanceof Call(var operator, _) && operator.isPlusMinus();
    return here || Expr.parts(expr).stream().anyMatch(PlusMinusExpansion::isIn);
  }

  private static Expr with(Expr expr, boolean upper) {
    if (expr instanceof Call(var operator, var arguments) && operator.isPlusMinus()) {
      Expr chosen = with(arguments.get(0), upper);
      return (operator == Operator.PLUS_OR_MINUS) == upper
          ? chosen
          : new Call(Operator.NEGATE, chosen);
    }
    return Expr.map(expr, part -> with(part, upper));
  }
}
