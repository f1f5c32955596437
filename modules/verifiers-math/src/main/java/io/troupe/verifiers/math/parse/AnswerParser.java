package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Constant;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.Units;
import io.troupe.verifiers.math.expr.UnresolvedException;
import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads an answer, LaTeX or plain, by recursive descent.
 *
 * <pre>
 * list     := relation ((',' | ';' | 'and' | 'or') relation)*
 * relation := sets (('=' | '&lt;' | '\in' | …) sets)*
 * sets     := ratio (('\cup' | '\cap' | '\setminus') ratio)*
 * ratio    := quantity (':' quantity)*
 * quantity := letters | sum unit? | currency sum
 * sum      := product (('+' | '-' | '\pm' | '\mp') product)*
 * product  := unary (('*' | '/' | nothing) unary)*
 * unary    := ('-' | '+' | '\pm' | '\mp') unary | power
 * power    := primary ('!' | '%' | '^\circ')* ('^' exponent)?
 * </pre>
 *
 * <p>Its depth and the number of its steps are bounded, whatever the answer holds.
 */
final class AnswerParser {
  /** Deeper nesting is no answer, and would end in a stack overflow. */
  static final int MOST_DEPTH = 200;

  /** Signs behind one factor, and quotients in one product, that nest without brackets. */
  private static final int MOST_SIGNS = 20;

  private final AnswerTokenReader in;
  private final StepBudget budget;
  private final BoundParser bound;
  private final MatrixParser matrices;
  private int depth;
  private int bars;
  private boolean inSet;

  private AnswerParser(List<AnswerToken> tokens, StepBudget budget) {
    this.in = new AnswerTokenReader(tokens);
    this.budget = budget;
    this.bound = new BoundParser(this, in);
    this.matrices = new MatrixParser(this, in);
  }

  /** The expression of all tokens; otherwise leaves with {@link UnresolvedException}. */
  static Expr parse(List<AnswerToken> tokens, StepBudget budget) {
    AnswerParser parser = new AnswerParser(tokens, budget);
    Expr expr = parser.infix(parser.list(' ', ' '));
    if (!parser.in.atEnd()) {
      throw unreadable();
    }
    return expr;
  }

  static UnresolvedException unreadable() {
    return new UnresolvedException(UnresolvedException.Why.UNREADABLE);
  }

  private void enter() {
    budget.spend(2);
    if (++depth > MOST_DEPTH) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
  }

  private void leave() {
    depth--;
  }

  /** Reads the items between brackets; a list of one in round or no brackets is its item. */
  private Expr list(char open, char close) {
    Listing items = items(open, close);
    return items.items().size() == 1 ? items.items().get(0) : items;
  }

  private Listing items(char open, char close) {
    List<Expr> items = new ArrayList<>();
    items.add(relation());
    Expr.Joined joined = Expr.Joined.COMMA;
    List<Expr.Joined> separators = new ArrayList<>();
    for (var next = separator(); next.isPresent(); next = separator()) {
      joined = next.get().compareTo(joined) > 0 ? next.get() : joined;
      separators.add(next.get());
      items.add(relation());
    }
    return Alternatives.grouped(new Listing(open, close, items, joined), separators);
  }

  private Optional<Expr.Joined> separator() {
    Optional<Expr.Joined> found = Optional.empty();
    while (true) {
      if (in.takesSign(",") || in.takesSign(";")) {
        found = Optional.of(found.orElse(Expr.Joined.COMMA));
      } else if (in.takesCommand("and") || (depth < 3 && in.takesSign("\\\\"))) {
        found = Optional.of(Expr.Joined.AND);
      } else if (in.takesCommand("or")) {
        found = Optional.of(Expr.Joined.OR);
      } else {
        return found;
      }
    }
  }

  Expr relation() {
    enter();
    List<Expr> sides = new ArrayList<>(List.of(sets()));
    List<Sign> signs = new ArrayList<>();
    for (Optional<Sign> sign = in.takesRelation(); sign.isPresent(); sign = in.takesRelation()) {
      signs.add(sign.get());
      sides.add(sets());
    }
    Expr whole = signs.isEmpty() ? sides.get(0) : new Relation(signs, sides);
    if (in.takesCommand("mod")) {
      whole = new Expr.Residue(whole, scalar(sum()));
    }
    leave();
    return whole;
  }

  private Expr sets() {
    Expr left = ratio();
    for (var joint = joint(left); joint.isPresent(); joint = joint(left)) {
      Expr right = ratio();
      List<Expr> parts = new ArrayList<>();
      if (left instanceof Expr.SetOperation(var same, var before) && same == joint.get()) {
        parts.addAll(before);
      } else {
        parts.add(left);
      }
      parts.add(right);
      left = new Expr.SetOperation(joint.get(), parts);
    }
    return left;
  }

  private Optional<Expr.SetOperation.Joint> joint(Expr left) {
    if (in.takesCommand("cup") || (isSet(left) && in.takes(Kind.LETTER, "U"))) {
      return Optional.of(Expr.SetOperation.Joint.UNION);
    }
    if (in.takesCommand("cap")) {
      return Optional.of(Expr.SetOperation.Joint.INTERSECTION);
    }
    return in.takesCommand("setminus")
        ? Optional.of(Expr.SetOperation.Joint.DIFFERENCE)
        : Optional.empty();
  }

  private static boolean isSet(Expr expr) {
    return expr instanceof Listing || expr instanceof Expr.SetOperation;
  }

  private Expr ratio() {
    Expr first = quantity();
    if (inSet || !in.takesSign(":")) {
      return first;
    }
    List<Expr> parts = new ArrayList<>(List.of(scalar(first)));
    do {
      parts.add(scalar(sum()));
    } while (in.takesSign(":"));
    return new Expr.Ratio(parts);
  }

  /** Whether a smaller part of the same value follows: minutes behind hours. */
  private boolean continues() {
    boolean and =
        in.peek().isCommand("and")
            && in.peek(1).kind() == Kind.NUMBER
            && in.peek(2).kind() == Kind.UNIT
            && in.previousIsUnitLike(in.peek(2));
    return in.peek().kind() == Kind.NUMBER || and;
  }

  /** A value with its unit; several of them, as in hours and minutes, are one sum. */
  private Expr quantity() {
    Optional<Expr> run = new LetterRun(in).read();
    if (run.isPresent()) {
      return run.get();
    }
    boolean negative = in.peek().isSign("-") && in.peek(1).kind() == Kind.UNIT;
    if (negative) {
      in.next();
    }
    if (in.peek().kind() == Kind.UNIT) {
      String sign = in.next().text();
      Units currency = Units.of(sign);
      Expr amount = scalar(sum());
      boolean unit = in.peek().kind() == Kind.UNIT;
      if (unit && in.peek().text().startsWith("per ")) {
        currency = Units.of(sign + " " + in.next().text());
      } else if (unit && Units.of(in.peek().text()).isLike(currency)) {
        in.next();
      }
      return new Expr.Quantity(negative ? new Call(Operator.NEGATE, amount) : amount, currency);
    }
    Expr value = sum();
    if (in.peek().kind() != Kind.UNIT) {
      return value;
    }
    Units unit = Units.of(in.next().text());
    Expr total = scalar(value);
    while (continues()) {
      in.takesCommand("and");
      Expr more = scalar(sum());
      if (in.peek().kind() != Kind.UNIT) {
        throw unreadable();
      }
      Units smaller = Units.of(in.next().text());
      if (!smaller.powers().equals(unit.powers()) || unit.powers().isEmpty()) {
        throw unreadable();
      }
      Expr factor = Numeral.exact(smaller.times(unit, budget));
      total = new Call(Operator.ADD, total, new Call(Operator.MULTIPLY, more, factor));
    }
    return new Expr.Quantity(total, unit);
  }

  Expr sum() {
    enter();
    Expr first = product();
    List<Expr> terms = new ArrayList<>(List.of(first));
    while (true) {
      Optional<Expr> term = term();
      if (term.isEmpty()) {
        break;
      }
      if (terms.get(0) instanceof Expr.Matrix left) {
        terms.set(0, MatrixParser.add(left, term.get()));
      } else {
        terms.add(term.get());
        scalar(terms.get(0));
        scalar(term.get());
      }
      budget.spend(2);
    }
    leave();
    return terms.size() == 1
        ? terms.get(0)
        : new Call(Operator.ADD, terms.stream().map(AnswerParser::scalar).toList());
  }

  private Optional<Expr> term() {
    if (in.takesSign("+")) {
      return Optional.of(product());
    }
    if (in.takesSign("-")) {
      return Optional.of(negated(product()));
    }
    if (in.takesCommand("pm")) {
      return Optional.of(new Call(Operator.PLUS_OR_MINUS, scalar(product())));
    }
    return in.takesCommand("mp")
        ? Optional.of(new Call(Operator.MINUS_OR_PLUS, scalar(product())))
        : Optional.empty();
  }

  private static Expr negated(Expr expr) {
    return expr instanceof Expr.Matrix matrix
        ? MatrixParser.times(Numeral.of(-1), matrix)
        : new Call(Operator.NEGATE, scalar(expr));
  }

  Expr product() {
    enter();
    Expr left = unary();
    int quotients = 0;
    while (true) {
      if (in.takesSign("*")) {
        left = times(left, unary());
      } else if (in.takesSign("/")) {
        left = new Call(Operator.DIVIDE, scalar(left), scalar(unary()));
        if (++quotients > MOST_SIGNS) {
          throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
        }
      } else if (beginsFactor(left)) {
        left = times(left, power());
      } else {
        break;
      }
      budget.spend(2);
    }
    leave();
    return left;
  }

  private static Expr times(Expr left, Expr right) {
    if (left instanceof Expr.Matrix || right instanceof Expr.Matrix) {
      return MatrixParser.multiplied(left, right);
    }
    List<Expr> factors = new ArrayList<>();
    if (left instanceof Call(var operator, var before) && operator == Operator.MULTIPLY) {
      factors.addAll(before);
      if (factors.size() > 500) {
        throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
      }
    } else {
      factors.add(scalar(left));
    }
    factors.add(scalar(right));
    return new Call(Operator.MULTIPLY, factors);
  }

  /** Whether a factor follows without a sign. A number never does behind another number. */
  private boolean beginsFactor(Expr left) {
    AnswerToken next = in.peek();
    if (isSet(left)) {
      return false;
    }
    return switch (next.kind()) {
      case NUMBER -> !in.previousIsNumber();
      case LETTER -> true;
      case WORD -> next.text().length() <= 3 || LetterRun.isProduct(next.text());
      case COMMAND -> AtomParser.begins(next.text());
      case SIGN ->
          next.text().equals("(")
              || next.text().equals("{")
              || (next.text().equals("[") && !in.previousIsNumber())
              || (next.text().equals("|") && bars == 0);
      case TEXT, UNIT, BASED, END -> false;
    };
  }

  private Expr unary() {
    enter();
    Expr result;
    if (in.takesSign("-")) {
      result = negated(unary());
    } else if (in.takesSign("+")) {
      result = scalar(unary());
    } else if (in.takesCommand("pm")) {
      result = new Call(Operator.PLUS_OR_MINUS, scalar(unary()));
    } else if (in.takesCommand("mp")) {
      result = new Call(Operator.MINUS_OR_PLUS, scalar(unary()));
    } else {
      result = power();
    }
    leave();
    return result;
  }

  private Expr power() {
    enter();
    Expr base = primary();
    int signs = 0;
    while (true) {
      if (in.peek().isSign("!") && in.peek(1).isSign("!")) {
        in.next();
        in.next();
        base = new Call(Operator.DOUBLE_FACTORIAL, scalar(base));
      } else if (base instanceof Listing row && row.isRow() && in.takesSign("^")) {
        base = matrices.power(new Expr.Matrix(List.of(row.items())));
      } else if (base instanceof Expr.Matrix matrix && in.takesSign("^")) {
        base = matrices.power(matrix);
      } else if (in.takesSign("!")) {
        base = new Call(Operator.FACTORIAL, scalar(base));
      } else if (in.takesSign("%")) {
        base = new Call(Operator.PERCENT, scalar(base));
      } else if (in.takesDegrees()) {
        base = new Call(Operator.DEGREES, scalar(base));
      } else if (in.takesSign("^")) {
        base = new Call(Operator.POWER, scalar(base), exponent());
        break;
      } else {
        break;
      }
      if (++signs > MOST_SIGNS) {
        throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
      }
    }
    leave();
    return base;
  }

  private Expr exponent() {
    enter();
    Expr exponent;
    if (in.takesSign("-")) {
      exponent = new Call(Operator.NEGATE, exponent());
    } else {
      exponent = scalar(primary());
      if (in.takesSign("^")) {
        exponent = new Call(Operator.POWER, exponent, exponent());
      }
    }
    leave();
    return exponent;
  }

  private Expr primary() {
    enter();
    AnswerToken token = in.next();
    Expr result =
        switch (token.kind()) {
          case NUMBER -> number(token);
          case LETTER -> letter(token.text());
          case WORD -> word(token.text());
          case TEXT -> new Expr.Words(ParsedAnswer.plainWords(token.text() + in.takeNamed()));
          case COMMAND -> command(token.text());
          case SIGN -> bracket(token.text());
          case BASED -> {
            int colon = token.text().indexOf(':');
            yield new Expr.InBase(
                token.text().substring(colon + 1),
                Integer.parseInt(token.text().substring(0, colon)));
          }
          case UNIT, END -> throw unreadable();
        };
    leave();
    return result;
  }

  private Expr number(AnswerToken token) {
    Numeral number = AtomParser.number(token.text());
    if (in.peek().isSign("_")) {
      if (number.decimal() || !number.value().isInteger()) {
        throw unreadable();
      }
      in.next();
      return new Expr.InBase(token.text(), AtomParser.base(in.takeSubscript()));
    }
    return in.takeFraction(number)
        .<Expr>map(part -> new Call(Operator.ADD, number, part))
        .orElse(number);
  }

  Expr letter(String name) {
    if (in.takesSign("_")) {
      return new Variable(name + "_" + in.takeSubscript());
    }
    boolean point = name.length() == 1 && Character.isUpperCase(name.charAt(0));
    return point && in.peek().isSign("(") && depth < 12
        ? named(name).orElseGet(() -> single(name))
        : single(name);
  }

  static Expr single(String name) {
    return switch (name) {
      case "e" -> new Constant(Constant.Name.E);
      case "i" -> new Constant(Constant.Name.I);
      default -> new Variable(name);
    };
  }

  /** A point with its name: {@code P(3,-4)}. */
  private Optional<Expr> named(String name) {
    int mark = in.mark();
    in.next();
    Expr inside = round('(');
    if (inside instanceof Listing) {
      return Optional.of(new Relation(List.of(Sign.EQUAL), List.of(new Variable(name), inside)));
    }
    in.reset(mark);
    return Optional.empty();
  }

  /** A short word that is no unit here is the product of its letters. */
  private Expr word(String word) {
    if (LetterRun.isDenial(word) || (word.length() > 3 && !LetterRun.isProduct(word))) {
      throw unreadable();
    }
    List<Expr> letters = new ArrayList<>();
    for (int i = 0; i < word.length(); i++) {
      boolean last = i == word.length() - 1;
      Expr letter =
          last
              ? letter(word.substring(i))
              : switch (word.charAt(i)) {
                case 'e' -> new Constant(Constant.Name.E);
                case 'i' -> new Constant(Constant.Name.I);
                default -> new Variable(word.substring(i, i + 1));
              };
      if (last) {
        letter = powerOf(letter);
      }
      letters.add(letter);
    }
    return new Call(Operator.MULTIPLY, letters);
  }

  /** In {@code xy^2} and {@code xy!} the sign belongs to the last letter alone. */
  private Expr powerOf(Expr letter) {
    if (in.peek().isSign("^") && !in.peekIsDegrees()) {
      in.next();
      return new Call(Operator.POWER, letter, exponent());
    }
    return in.takesSign("!") ? new Call(Operator.FACTORIAL, letter) : letter;
  }

  private Expr bracket(String sign) {
    return switch (sign) {
      case "(", "[" -> round(sign.charAt(0));
      case "{" -> group();
      case "\\{" -> set();
      case "|" -> bars();
      default -> throw unreadable();
    };
  }

  private Expr round(char open) {
    int outer = bars;
    bars = 0;
    Expr inside = list(' ', ' ');
    bars = outer;
    char close = in.takesSign(")") ? ')' : in.takesSign("]") ? ']' : in.takesSign("[") ? '[' : ' ';
    if (close == ' ' || close == '[') {
      throw unreadable();
    }
    if (inside instanceof Listing listing && listing.isBare()) {
      return new Listing(open, close, listing.items());
    }
    boolean matches = (open == '(') == (close == ')');
    if (!matches) {
      throw unreadable();
    }
    return inside;
  }

  /** LaTeX's own braces, with the infix commands that only they delimit. */
  private Expr group() {
    int outer = bars;
    bars = 0;
    Expr inside = list('{', '}');
    inside = infix(inside);
    bars = outer;
    in.expectSign("}");
    return inside;
  }

  private Expr infix(Expr left) {
    if (in.takesCommand("choose")) {
      return new Call(Operator.BINOMIAL, scalar(left), scalar(sum()));
    }
    return in.takesCommand("over") ? new Call(Operator.DIVIDE, scalar(left), scalar(sum())) : left;
  }

  private Expr set() {
    if (in.takesSign("\\}")) {
      return AtomParser.EMPTY_SET;
    }
    int outer = bars;
    boolean outerSet = inSet;
    bars = 1;
    inSet = true;
    Listing items = items('{', '}');
    Expr inside = items.items().size() == 1 ? items.items().get(0) : items;
    bars = 0;
    inSet = false;
    if (in.takesCommand("mid")
        || in.takesSign("|")
        || in.takesSign(":")
        || in.takesCommand("such that")) {
      inside = new Expr.SetBuilder(inside, list(' ', ' '));
    }
    bars = outer;
    inSet = outerSet;
    in.expectSign("\\}");
    return inside instanceof Expr.SetBuilder ? inside : items;
  }

  private Expr bars() {
    bars++;
    Expr inside = scalar(sum());
    bars--;
    in.expectSign("|");
    return new Call(Operator.ABSOLUTE, inside);
  }

  private Expr command(String name) {
    if (name.startsWith("begin:")) {
      return matrices.environment(name.substring("begin:".length()));
    }
    Optional<Expr> binding = bound.read(name);
    if (binding.isPresent()) {
      return binding.get();
    }
    Optional<Operator> function = Operator.function(name);
    if (function.isPresent()) {
      return function(function.get());
    }
    return switch (name) {
      case "pi" -> new Constant(Constant.Name.PI);
      case "infty" -> new Constant(Constant.Name.INFINITY);
      case "emptyset" -> AtomParser.EMPTY_SET;
      case "frac" ->
          derivative().orElseGet(() -> new Call(Operator.DIVIDE, argument(), argument()));
      case "det" -> matrices.determinant(primary());
      case "binom" -> new Call(Operator.BINOMIAL, argument(), argument());
      case "sqrt" -> root();
      case "lfloor" -> closed(Operator.FLOOR, "rfloor");
      case "lceil" -> closed(Operator.CEILING, "rceil");
      default -> throw unreadable();
    };
  }

  /** {@code \frac{dy}{dx}} is a name. */
  private Optional<Expr> derivative() {
    int mark = in.mark();
    StringBuilder name = new StringBuilder();
    for (int i = 0; i < 2; i++) {
      boolean differential =
          in.takesSign("{")
              && in.peek().kind() == Kind.WORD
              && in.peek().text().length() == 2
              && in.peek().text().charAt(0) == 'd';
      name.append(i == 0 ? "" : "/").append(in.next().text());
      if (!differential || !in.takesSign("}")) {
        in.reset(mark);
        return Optional.empty();
      }
    }
    return Optional.of(new Variable(name.toString()));
  }

  /** A command's argument: a group, or the next digit or letter. */
  Expr argument() {
    if (in.peek().kind() == Kind.NUMBER) {
      return AtomParser.number(in.takeDigit());
    }
    if (in.peek().kind() == Kind.WORD) {
      return letter(in.takeLetter());
    }
    return scalar(primary());
  }

  private Expr root() {
    Expr degree = Numeral.of(2);
    if (in.takesSign("[")) {
      degree = scalar(sum());
      in.expectSign("]");
    }
    return new Call(Operator.ROOT, scalar(primary()), degree);
  }

  private Expr closed(Operator operator, String close) {
    Expr inside = scalar(sum());
    if (!in.takesCommand(close)) {
      throw unreadable();
    }
    return new Call(operator, inside);
  }

  private Expr function(Operator function) {
    enter();
    Operator applied = function;
    Optional<Expr> base = Optional.empty();
    Optional<Expr> exponent = Optional.empty();
    if (in.takesSign("_")) {
      base = Optional.of(argumentOrNumber());
    }
    if (in.takesSign("^")) {
      Expr raised = exponent();
      if (raised.equals(new Call(Operator.NEGATE, Numeral.of(1)))
          && function.inverse().isPresent()) {
        applied = function.inverse().get();
      } else {
        exponent = Optional.of(raised);
      }
    }
    if (base.isPresent() && function != Operator.LOG) {
      throw unreadable();
    }
    Expr value;
    if (function.takesList()) {
      value = new Call(function, arguments());
    } else {
      Expr argument = functionArgument();
      value =
          base.isPresent()
              ? new Call(Operator.LOG_BASE, base.get(), argument)
              : new Call(applied, argument);
    }
    leave();
    Expr result = value;
    return exponent.<Expr>map(e -> new Call(Operator.POWER, result, e)).orElse(result);
  }

  private Expr argumentOrNumber() {
    return in.peek().kind() == Kind.NUMBER ? AtomParser.number(in.next().text()) : argument();
  }

  private List<Expr> arguments() {
    Expr inside = primary();
    if (inside instanceof Listing listing && !listing.items().isEmpty()) {
      listing.items().forEach(AnswerParser::scalar);
      return listing.items();
    }
    throw unreadable();
  }

  /** Bracketed, or all factors up to the next sign or function: {@code \sin 2x \cos x}. */
  private Expr functionArgument() {
    AnswerToken next = in.peek();
    if (next.isSign("(") || next.isSign("{") || next.isSign("[") || next.isSign("|")) {
      return scalar(primary());
    }
    if (in.takesSign("-")) {
      return new Call(Operator.NEGATE, functionArgument());
    }
    Expr argument = scalar(power());
    while (true) {
      if (in.peek().isSign("/") && in.peek(1).kind() == Kind.NUMBER) {
        in.next();
        argument = new Call(Operator.DIVIDE, argument, scalar(power()));
      } else if (beginsFactor(argument)
          && !in.peek().isSign("(")
          && Operator.function(in.peek().text()).isEmpty()) {
        argument = times(argument, power());
      } else {
        return argument;
      }
      budget.spend(2);
    }
  }

  Expr list() {
    return list(' ', ' ');
  }

  /** The same expression, if it can be in a sum; sets, words and relations cannot. */
  static Expr scalar(Expr expr) {
    return switch (expr) {
      case Expr.Letters(_, var product) -> product;
      case Numeral _, Constant _, Variable _, Call _, Expr.Bound _ -> expr;
      case Expr.Structure _ -> throw unreadable();
    };
  }
}
