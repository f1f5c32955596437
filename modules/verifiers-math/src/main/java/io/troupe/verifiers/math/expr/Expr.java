package io.troupe.verifiers.math.expr;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** An answer as it was written, parsed but not evaluated. Immutable; equal if of the same form. */
public sealed interface Expr {
  /** An expression that is no scalar: it is in no sum. */
  sealed interface Structure {}

  /**
   * A numeral.
   *
   * @param places the decimal places that it was written with; -1 if it has no decimal point, and
   *     so is exact
   * @param cut whether dots follow, so that it is not rounded but breaks off
   */
  record Numeral(Rational value, int places, boolean cut) implements Expr {
    public static Numeral exact(Rational value) {
      return new Numeral(value, -1, false);
    }

    public static Numeral of(long value) {
      return exact(Rational.of(value));
    }

    /** Whether it was written with a decimal point, and so may be rounded. */
    public boolean decimal() {
      return places >= 0;
    }
  }

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
   * Letters in a row and nothing else: the product of them, or a word, a sequence, a name, in which
   * their order counts.
   */
  record Letters(String run, Expr product) implements Expr {}

  /**
   * A sum, a product, an integral or a limit.
   *
   * @param variable that it binds
   * @param bounds where the variable begins and ends; of a limit, where it goes to; of an
   *     indefinite integral none
   */
  record Bound(Kind kind, String variable, List<Expr> bounds, Expr body) implements Expr {
    public Bound {
      bounds = List.copyOf(bounds);
    }

    public enum Kind {
      SUM,
      PRODUCT,
      INTEGRAL,
      LIMIT,
      LIMIT_FROM_ABOVE,
      LIMIT_FROM_BELOW
    }
  }

  /** A value with its unit, or with the noun that it counts. */
  record Quantity(Expr value, Units unit) implements Expr, Structure {}

  /** A remainder: {@code 3 \pmod 7}. */
  record Residue(Expr value, Expr modulus) implements Expr, Structure {}

  /** The members of a set by what they fulfil: {@code \{x \mid x > 2\}}. */
  record SetBuilder(Expr member, Expr condition) implements Expr, Structure {}

  /** Values with the conditions under which they hold. */
  record Cases(List<Expr> values, List<Expr> conditions) implements Expr, Structure {
    public Cases {
      values = List.copyOf(values);
      conditions = List.copyOf(conditions);
    }
  }

  /** The word between the items of a list. */
  enum Joined {
    COMMA,
    AND,
    OR
  }

  /**
   * Several answers.
   *
   * @param open {@code '('}, {@code '['}, <code>'{'</code>, or {@code ' '} for a list without
   *     brackets
   * @param close the bracket at the end, which may be another one: {@code [0,1)}
   */
  record Listing(char open, char close, List<Expr> items, Joined joined)
      implements Expr, Structure {
    public Listing {
      items = List.copyOf(items);
    }

    public Listing(char open, char close, List<Expr> items) {
      this(open, close, items, Joined.COMMA);
    }

    public static Listing bare(List<Expr> items) {
      return new Listing(' ', ' ', items);
    }

    public static Listing set(List<Expr> items) {
      return new Listing('{', '}', items);
    }

    public boolean isBare() {
      return open == ' ';
    }

    public boolean isSet() {
      return open == '{';
    }

    public boolean isTuple() {
      return open == '(' && close == ')';
    }

    /** Whether it is a row of numbers, in round or square brackets. */
    public boolean isRow() {
      return isTuple() || (open == '[' && close == ']');
    }

    /** Whether the items may be an interval of the line. */
    public boolean isInterval() {
      return !isBare() && !isSet() && items.size() == 2;
    }
  }

  /** Rows of equal length. */
  record Matrix(List<List<Expr>> rows) implements Expr, Structure {}

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
    IN,
    NOT_IN,
    SUBSET,
    PARALLEL,
    PERPENDICULAR,
    CONGRUENT,
    SIMILAR;

    /** Whether numbers are put in order by it. */
    public boolean isOrder() {
      return this == LESS || this == LESS_OR_EQUAL || this == GREATER || this == GREATER_OR_EQUAL;
    }

    /** The sign after both sides were exchanged. */
    public Sign flipped() {
      return switch (this) {
        case LESS -> GREATER;
        case LESS_OR_EQUAL -> GREATER_OR_EQUAL;
        case GREATER -> LESS;
        case GREATER_OR_EQUAL -> LESS_OR_EQUAL;
        default -> this;
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

  /** Adds the names of all free variables inside. */
  public static void variables(Expr expr, Set<String> found) {
    if (expr instanceof Variable(var name)) {
      found.add(name);
    } else if (expr instanceof Bound bound) {
      Set<String> inside = new HashSet<>();
      variables(bound.body, inside);
      inside.remove(bound.variable);
      found.addAll(inside);
      bound.bounds.forEach(e -> variables(e, found));
    } else {
      parts(expr).forEach(e -> variables(e, found));
    }
  }

  /** The names of all free variables inside. */
  public static Set<String> variables(Expr expr) {
    Set<String> found = new TreeSet<>();
    variables(expr, found);
    return found;
  }

  /** The expressions that an expression is directly made of. */
  public static List<Expr> parts(Expr expr) {
    return switch (expr) {
      case Call(_, var arguments) -> arguments;
      case Listing(_, _, var items, _) -> items;
      case Relation(_, var sides) -> sides;
      case SetOperation(_, var parts) -> parts;
      case Ratio(var parts) -> parts;
      case Matrix(var rows) -> rows.stream().flatMap(List::stream).toList();
      case Letters(_, var product) -> List.of(product);
      case Bound(_, _, var bounds, var body) ->
          Stream.concat(bounds.stream(), Stream.of(body)).toList();
      case Quantity(var value, _) -> List.of(value);
      case Residue(var value, var modulus) -> List.of(value, modulus);
      case SetBuilder(var member, var condition) -> List.of(member, condition);
      case Cases(var values, var conditions) ->
          Stream.concat(values.stream(), conditions.stream()).toList();
      case Numeral _, Constant _, Variable _, InBase _, Words _ -> List.of();
    };
  }

  /** The same expression with other parts directly inside, each made from the one before. */
  public static Expr map(Expr expr, UnaryOperator<Expr> change) {
    return switch (expr) {
      case Call(var operator, var arguments) -> new Call(operator, map(arguments, change));
      case Listing(var open, var close, var items, var joined) ->
          new Listing(open, close, map(items, change), joined);
      case Relation(var signs, var sides) -> new Relation(signs, map(sides, change));
      case SetOperation(var joint, var parts) -> new SetOperation(joint, map(parts, change));
      case Ratio(var parts) -> new Ratio(map(parts, change));
      case Matrix(var rows) -> new Matrix(rows.stream().map(row -> map(row, change)).toList());
      case Letters(var run, var product) -> new Letters(run, change.apply(product));
      case Bound(var kind, var variable, var bounds, var body) ->
          new Bound(kind, variable, map(bounds, change), change.apply(body));
      case Quantity(var value, var unit) -> new Quantity(change.apply(value), unit);
      case Residue(var value, var modulus) ->
          new Residue(change.apply(value), change.apply(modulus));
      case SetBuilder(var member, var condition) ->
          new SetBuilder(change.apply(member), change.apply(condition));
      case Cases(var values, var conditions) ->
          new Cases(map(values, change), map(conditions, change));
      case Numeral _, Constant _, Variable _, InBase _, Words _ -> expr;
    };
  }

  private static List<Expr> map(List<Expr> all, UnaryOperator<Expr> change) {
    return all.stream().map(change).toList();
  }

  /** The same expression with a variable of another name. */
  public static Expr renamed(Expr expr, String from, String to) {
    if (expr instanceof Variable(var name)) {
      return name.equals(from) ? new Variable(to) : expr;
    }
    return expr instanceof Letters(_, var product)
        ? renamed(product, from, to)
        : map(expr, part -> renamed(part, from, to));
  }
}
