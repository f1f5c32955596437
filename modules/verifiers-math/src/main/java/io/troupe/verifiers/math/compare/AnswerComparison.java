package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Cases;
import io.troupe.verifiers.math.expr.Expr.Constant;
import io.troupe.verifiers.math.expr.Expr.InBase;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Matrix;
import io.troupe.verifiers.math.expr.Expr.Quantity;
import io.troupe.verifiers.math.expr.Expr.Ratio;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Residue;
import io.troupe.verifiers.math.expr.Expr.SetBuilder;
import io.troupe.verifiers.math.expr.Expr.SetOperation;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.expr.Expr.Words;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.Rational;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import io.troupe.verifiers.math.parse.ParsedAnswer;
import io.troupe.verifiers.math.value.ExactValue;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Compares answers by their structure down to scalars: tuples in order, sets and bare lists in any
 * order, intervals with their brackets, matrices element by element, relations by {@link
 * RelationComparison}. A list never equals a single answer, however often it names it.
 */
public final class AnswerComparison {
  private static final int MOST_ITEMS = 64;
  private static final Pattern LETTERS = Pattern.compile("[a-z](?:,? (?:and )?[a-z])+");
  private static final Set<String> OTHERWISE = Set.of("otherwise", "else", "elsewhere");

  private final StepBudget budget;
  private final ScalarComparison scalars;
  private final RelationComparison relations;
  private final RealSetComparison sets;
  private final Systems systems;
  private final Families families;
  private final Roots roots;
  private final Remainders remainders;

  AnswerComparison(StepBudget budget) {
    this.budget = budget;
    this.scalars = new ScalarComparison(budget);
    this.relations = new RelationComparison(this, scalars, budget);
    this.sets = new RealSetComparison(scalars, budget);
    this.systems = new Systems(this);
    this.families = new Families(scalars, budget);
    this.roots = new Roots(this);
    this.remainders = new Remainders(this, budget);
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
    if (isDecimal(gold) || isDecimal(answer)) {
      return same(withoutBaseTen(gold), withoutBaseTen(answer));
    }
    Optional<ComparisonResult> several =
        families
            .compare(gold, answer)
            .or(() -> roots.compare(gold, answer))
            .or(() -> systems.compare(gold, answer));
    if (several.isPresent()) {
      return several.get();
    }
    Optional<Residue> wanted = Remainders.of(gold);
    Optional<Residue> given = Remainders.of(answer);
    if (wanted.isPresent() != given.isPresent()) {
      return ComparisonResult.different("a remainder, or no remainder");
    }
    if (wanted.isPresent()) {
      return remainders.compare(wanted.get(), given.orElseThrow());
    }
    if (gold instanceof Relation || answer instanceof Relation) {
      return relations.compare(gold, answer);
    }
    if (gold instanceof Quantity || answer instanceof Quantity) {
      return quantities(gold, answer);
    }
    if (gold instanceof SetBuilder || answer instanceof SetBuilder) {
      return builders(gold, answer);
    }
    if (gold instanceof Words || answer instanceof Words) {
      return words(gold, answer);
    }
    if (isUnitVector(gold) != isUnitVector(answer)) {
      return same(vector(gold), vector(answer));
    }
    if (gold instanceof Matrix || answer instanceof Matrix) {
      return matrices(gold, answer);
    }
    if (gold instanceof Listing || answer instanceof Listing) {
      boolean letters = gold instanceof Expr.Letters || answer instanceof Expr.Letters;
      return letters ? words(gold, answer) : listings(gold, answer);
    }
    return switch (gold) {
      case SetOperation left when answer instanceof SetOperation right -> operations(left, right);
      case SetOperation _ -> asSets(gold, answer);
      case Cases left when answer instanceof Cases right -> cases(left, right);
      case Ratio(var left) when answer instanceof Ratio(var right) -> ordered(left, right, "ratio");
      case InBase left when answer instanceof InBase right -> inBase(left, right);
      default -> {
        if (isScalar(gold) && isScalar(answer)) {
          yield scalars.compare(gold, answer);
        }
        ComparisonResult sets = asSets(gold, answer);
        yield sets.isEqual()
            ? sets
            : ComparisonResult.different(
                "%s where %s is expected".formatted(kind(answer), kind(gold)));
      }
    };
  }

  /** Digits in base ten are a number like any other. */
  private static boolean isDecimal(Expr expr) {
    return expr instanceof InBase(_, var base) && base == 10;
  }

  private static Expr withoutBaseTen(Expr expr) {
    return expr instanceof InBase(var digits, var base) && base == 10
        ? Expr.Numeral.exact(Rational.of(new BigInteger(digits)))
        : expr;
  }

  ComparisonResult asSets(Expr gold, Expr answer) {
    return sets.compare(gold, answer)
        .orElseGet(
            () ->
                ComparisonResult.different(
                    "%s where %s is expected".formatted(kind(answer), kind(gold))));
  }

  public static boolean isScalar(Expr expr) {
    return !(expr instanceof Expr.Structure);
  }

  static String kind(Expr expr) {
    return switch (expr) {
      case Expr.Numeral _, Constant _ -> "a number";
      case Variable _, Call _, Expr.Letters _, Expr.Bound _ -> "an expression";
      case Listing listing ->
          listing.isBare() || listing.isSet() ? "a set of answers" : "a tuple or interval";
      case Matrix _ -> "a matrix";
      case Relation _ -> "a relation";
      case SetOperation _, SetBuilder _ -> "a set";
      case Ratio _ -> "a ratio";
      case InBase _ -> "a numeral with a base";
      case Quantity _ -> "a value with a unit";
      case Residue _ -> "a remainder";
      case Cases _ -> "values by cases";
      case Words _ -> "words";
    };
  }

  /** Values with units that can be compared; one of both may have none. */
  private ComparisonResult quantities(Expr gold, Expr answer) {
    if (gold instanceof Quantity(var wanted, var unit)
        && answer instanceof Quantity(var given, var other)) {
      if (!other.isLike(unit)) {
        return ComparisonResult.different("other units");
      }
      Rational times = other.times(unit, budget);
      return same(
          wanted,
          times.equals(Rational.ONE)
              ? given
              : new Call(Operator.MULTIPLY, given, Expr.Numeral.exact(times)));
    }
    if (gold instanceof Quantity(var wanted, var unit)) {
      if (!unit.isOptional()) {
        return ComparisonResult.different("a word that counts is missing");
      }
      return unit.isDegrees() && hasPi(answer)
          ? same(new Call(Operator.DEGREES, wanted), answer)
          : same(wanted, answer);
    }
    Quantity quantity = (Quantity) answer;
    if (quantity.unit().isPercent() && isPart(gold)) {
      return ComparisonResult.different("a percentage where a part of one is expected");
    }
    if (!quantity.unit().mayBeAdded()) {
      return ComparisonResult.different("an ordinal where a number is expected");
    }
    return quantity.unit().isDegrees() && hasPi(gold)
        ? same(gold, new Call(Operator.DEGREES, quantity.value()))
        : same(gold, quantity.value());
  }

  /** Whether a number lies between 0 and 1: what is asked for is no percentage then. */
  private boolean isPart(Expr gold) {
    return isScalar(gold)
        && new ExactValue(Map.of(), budget)
            .of(gold)
            .filter(value -> value.signum() > 0 && value.compareTo(Rational.ONE) < 0)
            .isPresent();
  }

  private static boolean hasPi(Expr expr) {
    return expr.equals(new Constant(Constant.Name.PI))
        || Expr.parts(expr).stream().anyMatch(AnswerComparison::hasPi);
  }

  private ComparisonResult builders(Expr gold, Expr answer) {
    ComparisonResult sets = asSets(gold, answer);
    if (!sets.isEqual()
        && gold instanceof SetBuilder(var member, var condition)
        && answer instanceof SetBuilder(var other, var also)) {
      Expr renamed =
          member instanceof Variable(var to) && other instanceof Variable(var from)
              ? Expr.renamed(also, from, to)
              : also;
      boolean members = member instanceof Variable || same(member, other).isEqual();
      return members && same(condition, renamed).isEqual()
          ? ComparisonResult.equal("the same condition")
          : ComparisonResult.different("another condition");
    }
    return sets;
  }

  private ComparisonResult words(Expr gold, Expr answer) {
    Optional<String> left = word(gold);
    Optional<String> right = word(answer);
    if (left.isPresent() && right.isPresent()) {
      if (WordAnswers.isSame(left.get(), right.get())) {
        return ComparisonResult.equal("the same words");
      }
    }
    if (spelled(gold).isPresent() && spelled(gold).equals(spelled(answer))) {
      return ComparisonResult.equal("the same letters");
    }
    ComparisonResult sets = asSets(gold, answer);
    return sets.isEqual() ? sets : ComparisonResult.different("other words");
  }

  /** Capitals in a row, together or with commas: {@code BADC}, {@code B, A, D, C}. */
  private static Optional<String> spelled(Expr expr) {
    if (expr instanceof Listing list && (list.isBare() || list.isTuple())) {
      boolean capitals =
          list.items().stream()
              .allMatch(
                  item ->
                      item instanceof Variable(var name)
                          && name.length() == 1
                          && Character.isUpperCase(name.charAt(0)));
      return capitals
          ? Optional.of(
              list.items().stream()
                  .map(item -> ((Variable) item).name())
                  .collect(Collectors.joining())
                  .toLowerCase(Locale.ROOT))
          : Optional.empty();
    }
    return word(expr)
        .map(word -> LETTERS.matcher(word).matches() ? word.replaceAll(",? (?:and )?", "") : word)
        .filter(word -> word.length() > 1 && word.length() <= 8);
  }

  private static Optional<String> word(Expr expr) {
    return switch (expr) {
      case Words(var text) -> Optional.of(text);
      case Variable(var name) when name.equals("\\mathbbZ") ->
          Optional.of(WordAnswers.ALL_INTEGERS);
      case Variable(var name) -> Optional.of(ParsedAnswer.plainWords(name));
      case Expr.Letters(var run, _) -> Optional.of(ParsedAnswer.plainWords(run));
      case Constant(var name) ->
          switch (name) {
            case E, I -> Optional.of(ParsedAnswer.plainWords(name.name()));
            case INFINITY -> Optional.of(WordAnswers.INFINITE);
            case PI -> Optional.empty();
          };
      default -> Optional.empty();
    };
  }

  private static boolean isUnitVector(Expr expr) {
    return isScalar(expr)
        && Expr.variables(expr).stream().anyMatch(name -> name.startsWith("\\vec"));
  }

  /** {@code 3\mathbf{i}-4\mathbf{j}} as its components. */
  private Expr vector(Expr expr) {
    if (!isUnitVector(expr)) {
      return expr;
    }
    boolean space = Expr.variables(expr).contains("\\veck");
    List<Expr> components = new ArrayList<>();
    for (String axis : List.of("i", "j", "k").subList(0, space ? 3 : 2)) {
      Expr component = expr;
      for (String other : List.of("i", "j", "k")) {
        component = substituted(component, "\\vec" + other, other.equals(axis) ? 1 : 0);
      }
      components.add(component);
    }
    return new Listing('(', ')', components);
  }

  private static Expr substituted(Expr expr, String name, long value) {
    return expr.equals(new Variable(name))
        ? Expr.Numeral.of(value)
        : Expr.map(expr, part -> substituted(part, name, value));
  }

  private ComparisonResult cases(Cases gold, Cases answer) {
    if (gold.values().size() != answer.values().size()) {
      return ComparisonResult.different("another number of cases");
    }
    List<Integer> left = new ArrayList<>();
    for (int i = 0; i < answer.values().size(); i++) {
      left.add(i);
    }
    List<Integer> open = new ArrayList<>();
    for (int i = 0; i < gold.values().size(); i++) {
      Expr condition = gold.conditions().get(i);
      Optional<Integer> match =
          left.stream()
              .filter(k -> same(condition, answer.conditions().get(k)).isEqual())
              .findFirst();
      if (match.isEmpty()) {
        open.add(i);
      } else if (!same(gold.values().get(i), answer.values().get(match.get())).isEqual()) {
        return ComparisonResult.different("another value under a condition");
      } else {
        left.removeIf(match.get()::equals);
      }
    }
    boolean rest =
        open.size() == 1
            && (isOtherwise(gold.conditions().get(open.get(0)))
                || isOtherwise(answer.conditions().get(left.get(0))))
            && same(gold.values().get(open.get(0)), answer.values().get(left.get(0))).isEqual();
    return open.isEmpty() || rest
        ? ComparisonResult.equal("the same values under the same conditions")
        : ComparisonResult.different("other conditions");
  }

  private static boolean isOtherwise(Expr condition) {
    return condition instanceof Words(var text) && OTHERWISE.contains(text);
  }

  private ComparisonResult listings(Expr gold, Expr answer) {
    if (gold instanceof Listing left && answer instanceof Listing right) {
      boolean anyOrder = (left.isBare() || left.isSet()) && (right.isBare() || right.isSet());
      if (anyOrder) {
        return relations.differInJoint(left, right) ? asSets(gold, answer) : anyOrder(left, right);
      }
      boolean bareTuple =
          ((left.isBare() && right.isTuple()) || (right.isBare() && left.isTuple()))
              && hasRelation(left) == hasRelation(right);
      if (bareTuple || (left.open() == right.open() && left.close() == right.close())) {
        return ordered(left.items(), right.items(), "tuple or interval");
      }
      ComparisonResult asSets = asSets(gold, answer);
      return asSets.isEqual() ? asSets : ComparisonResult.different("other brackets");
    }
    if (gold instanceof Listing left && left.isSet() && left.items().size() == 1) {
      return same(left.items().get(0), answer);
    }
    if (answer instanceof Listing right && right.isSet() && right.items().size() == 1) {
      return same(gold, right.items().get(0));
    }
    ComparisonResult sets = asSets(gold, answer);
    if (sets.isEqual() || !isScalar(gold instanceof Listing ? answer : gold)) {
      return sets;
    }
    return answer instanceof Listing
        ? ComparisonResult.different("the answer holds several values, the gold is one")
        : ComparisonResult.different("the answer is one value, the gold holds several");
  }

  private static boolean hasRelation(Listing listing) {
    return listing.items().stream().anyMatch(Relation.class::isInstance);
  }

  private ComparisonResult anyOrder(Listing gold, Listing answer) {
    boolean sets = gold.isSet() || answer.isSet();
    List<Expr> wanted = sets ? distinct(gold.items()) : gold.items();
    List<Expr> given = sets ? distinct(answer.items()) : answer.items();
    ComparisonResult listed = unordered(wanted, given);
    boolean points =
        gold.items().stream().allMatch(AnswerComparison::isPoint)
            && answer.items().stream().allMatch(AnswerComparison::isPoint);
    ComparisonResult asSets = listed.isEqual() || points ? listed : asSets(gold, answer);
    return asSets.isEqual() ? asSets : listed;
  }

  /** Whether round brackets hold finite numbers; a list of such is points, not intervals. */
  private static boolean isPoint(Expr item) {
    return item instanceof Listing pair
        && pair.isTuple()
        && pair.items().stream().noneMatch(AnswerComparison::isInfinite);
  }

  private static boolean isInfinite(Expr expr) {
    return expr.equals(new Constant(Constant.Name.INFINITY))
        || Expr.parts(expr).stream().anyMatch(AnswerComparison::isInfinite);
  }

  private List<Expr> distinct(List<Expr> items) {
    if (items.size() > MOST_ITEMS) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    List<Expr> kept = new ArrayList<>();
    for (Expr item : items) {
      if (kept.stream().noneMatch(other -> same(other, item).isEqual())) {
        kept.add(item);
      }
    }
    return kept;
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

  ComparisonResult ordered(List<Expr> gold, List<Expr> answer, String what) {
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
    Optional<ComparisonResult> real = sets.compare(gold, answer);
    if (real.isPresent()) {
      return real.get();
    }
    if (gold.joint() != answer.joint()) {
      return ComparisonResult.different("another operation of sets");
    }
    return gold.joint() == SetOperation.Joint.DIFFERENCE
        ? ordered(gold.parts(), answer.parts(), "difference of sets")
        : unordered(gold.parts(), answer.parts());
  }

  private ComparisonResult matrices(Expr gold, Expr answer) {
    if (gold instanceof Matrix left && answer instanceof Matrix right) {
      return left.rows().size() == right.rows().size()
          ? matrices(left, right)
          : ComparisonResult.different("matrices of other shapes");
    }
    Optional<Matrix> rows = rows(answer).filter(_ -> gold instanceof Matrix);
    if (rows.isPresent()) {
      return same(gold, rows.get());
    }
    boolean vectors =
        (gold instanceof Matrix a && answer instanceof Listing b && b.isTuple() && isVector(a))
            || (answer instanceof Matrix c
                && gold instanceof Listing d
                && d.isTuple()
                && isVector(c));
    return vectors
        ? ordered(Expr.parts(gold), Expr.parts(answer), "vector")
        : ComparisonResult.different("%s where %s is expected".formatted(kind(answer), kind(gold)));
  }

  /** Lists of equal length in square brackets, as programs write a matrix. */
  private static Optional<Matrix> rows(Expr expr) {
    if (!(expr instanceof Listing list) || list.open() != '[' || list.close() != ']') {
      return Optional.empty();
    }
    List<List<Expr>> rows = new ArrayList<>();
    for (Expr item : list.items()) {
      if (!(item instanceof Listing row)
          || row.open() != '['
          || row.close() != ']'
          || (!rows.isEmpty() && row.items().size() != rows.get(0).size())
          || !row.items().stream().allMatch(AnswerComparison::isScalar)) {
        return Optional.empty();
      }
      rows.add(row.items());
    }
    return Optional.of(new Matrix(rows));
  }

  private static boolean isVector(Matrix matrix) {
    return matrix.rows().size() == 1 || matrix.rows().get(0).size() == 1;
  }

  private ComparisonResult matrices(Matrix gold, Matrix answer) {
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
