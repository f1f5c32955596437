package io.troupe.verifiers.math.parse;

import java.util.List;
import java.util.Set;

/** An answer as it was written, parsed but not evaluated. Immutable; equal if of the same form. */
public sealed interface Expr {
  /** An expression that is no scalar: it is in no sum. */
  sealed interface Structure {}

  /**
   * A numeral.
   *
   * @param decimal whether it was written with a decimal point, and so may be rounded
   */
  record Numeral(Rational value, boolean decimal) implements Expr {}

  /** π, e, i or ∞. */
  record Constant(Name name) implements Expr {
    public enum Name {
      PI,
      E,
      I,
      INFINITY
    }
  }

  /** A letter, or a name with a subscript. */
  record Variable(String name) implements Expr {}

  /** A scalar made of scalars. */
  record Call(Operator operator, List<Expr> arguments) implements Expr {
    public Call {
      arguments = List.copyOf(arguments);
    }

    public Call(Operator operator, Expr... arguments) {
      this(operator, List.of(arguments));
    }
  }

  /**
   * Several answers.
   *
   * @param open {@code '('}, {@code '['}, <code>'{'</code>, or {@code ' '} for a list without
   *     brackets
   * @param close the bracket at the end, which may be another one: {@code [0,1)}
   */
  record Listing(char open, char close, List<Expr> items) implements Expr, Structure {
    public Listing {
      items = List.copyOf(items);
    }

    public boolean isBare() {
      return open == ' ';
    }

    public boolean isSet() {
      return open == '{';
    }

    /** Whether the items may be an interval of the line. */
    public boolean isInterval() {
      return !isBare() && !isSet() && items.size() == 2;
    }
  }

  /** Rows of equal length. */
  record Matrix(boolean determinant, List<List<Expr>> rows) implements Expr, Structure {}

  /** A chain: {@code sides.get(0) signs.get(0) sides.get(1) …}. */
  record Relation(List<Sign> signs, List<Expr> sides) implements Expr, Structure {
    public Relation {
      signs = List.copyOf(signs);
      sides = List.copyOf(sides);
    }

    public boolean is(Sign sign) {
      return signs.size() == 1 && signs.get(0) == sign;
    }
  }

  /** The sign between the sides of a relation. */
  enum Sign {
    EQUAL,
    NOT_EQUAL,
    LESS,
    LESS_OR_EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    APPROXIMATELY,
    IN;

    /** The sign after both sides were exchanged. */
    public Sign flipped() {
      return switch (this) {
        case LESS -> GREATER;
        case LESS_OR_EQUAL -> GREATER_OR_EQUAL;
        case GREATER -> LESS;
        case GREATER_OR_EQUAL -> LESS_OR_EQUAL;
        case EQUAL, NOT_EQUAL, APPROXIMATELY, IN -> this;
      };
    }
  }

  /** Sets joined by one operation. */
  record SetOperation(Joint joint, List<Expr> parts) implements Expr, Structure {
    public SetOperation {
      parts = List.copyOf(parts);
    }

    public enum Joint {
      UNION,
      INTERSECTION,
      DIFFERENCE
    }
  }

  /** {@code 3:4}. */
  record Ratio(List<Expr> parts) implements Expr, Structure {
    public Ratio {
      parts = List.copyOf(parts);
    }
  }

  /** Digits with a stated base. */
  record InBase(String digits, int base) implements Expr, Structure {}

  /** Words, in lower case. */
  record Words(String text) implements Expr, Structure {}

  /** Adds the names of all variables inside. */
  static void variables(Expr expr, Set<String> found) {
    switch (expr) {
      case Variable(var name) -> found.add(name);
      case Call(_, var arguments) -> arguments.forEach(e -> variables(e, found));
      case Listing(_, _, var items) -> items.forEach(e -> variables(e, found));
      case Relation(_, var sides) -> sides.forEach(e -> variables(e, found));
      case SetOperation(_, var parts) -> parts.forEach(e -> variables(e, found));
      case Ratio(var parts) -> parts.forEach(e -> variables(e, found));
      case Matrix(_, var rows) -> rows.forEach(row -> row.forEach(e -> variables(e, found)));
      case Numeral _, Constant _, InBase _, Words _ -> {}
    }
  }
}
