package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import io.troupe.verifiers.math.parse.Expr.Call;
import io.troupe.verifiers.math.parse.Expr.Constant;
import io.troupe.verifiers.math.parse.Expr.Listing;
import io.troupe.verifiers.math.parse.Expr.Numeral;
import io.troupe.verifiers.math.parse.Expr.Relation;
import io.troupe.verifiers.math.parse.Expr.Sign;
import io.troupe.verifiers.math.parse.Expr.Variable;
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
 * ratio    := sum (':' sum)*
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
  private int depth;
  private int bars;

  private AnswerParser(List<AnswerToken> tokens, StepBudget budget) {
    this.in = new AnswerTokenReader(tokens);
    this.budget = budget;
  }

  /** The expression of all tokens; otherwise leaves with {@link UnresolvedException}. */
  static Expr parse(List<AnswerToken> tokens, StepBudget budget) {
    AnswerParser parser = new AnswerParser(tokens, budget);
    Expr expr = parser.list(' ', ' ');
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
    List<Expr> items = new ArrayList<>();
    items.add(relation());
    while (separator()) {
      items.add(relation());
    }
    return items.size() == 1 ? items.get(0) : new Listing(open, close, items);
  }

  private boolean separator() {
    boolean found = false;
    while (in.takesSign(",")
        || in.takesSign(";")
        || in.takesCommand("and")
        || in.takesCommand("or")) {
      found = true;
    }
    return found;
  }

  private Expr relation() {
    enter();
    List<Expr> sides = new ArrayList<>(List.of(sets()));
    List<Sign> signs = new ArrayList<>();
    for (Optional<Sign> sign = in.takesRelation(); sign.isPresent(); sign = in.takesRelation()) {
      signs.add(sign.get());
      sides.add(sets());
    }
    leave();
    return signs.isEmpty() ? sides.get(0) : new Relation(signs, sides);
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
    Expr first = sum();
    if (!in.takesSign(":")) {
      return first;
    }
    List<Expr> parts = new ArrayList<>(List.of(scalar(first)));
    do {
      parts.add(scalar(sum()));
    } while (in.takesSign(":"));
    return new Expr.Ratio(parts);
  }

  private Expr sum() {
    enter();
    List<Expr> terms = new ArrayList<>();
    terms.add(product());
    while (true) {
      if (in.takesSign("+")) {
        terms.add(scalar(product()));
      } else if (in.takesSign("-")) {
        terms.add(new Call(Operator.NEGATE, scalar(product())));
      } else if (in.takesCommand("pm")) {
        terms.add(new Call(Operator.PLUS_OR_MINUS, scalar(product())));
      } else if (in.takesCommand("mp")) {
        terms.add(new Call(Operator.MINUS_OR_PLUS, scalar(product())));
      } else {
        break;
      }
      scalar(terms.get(0));
      budget.spend(2);
    }
    leave();
    return terms.size() == 1 ? terms.get(0) : new Call(Operator.ADD, terms);
  }

  private Expr product() {
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
      case WORD -> next.text().length() <= 3;
      case COMMAND -> AtomParser.begins(next.text());
      case SIGN ->
          next.text().equals("(")
              || next.text().equals("{")
              || next.text().equals("[")
              || (next.text().equals("|") && bars == 0);
      case TEXT, END -> false;
    };
  }

  private Expr unary() {
    enter();
    Expr result;
    if (in.takesSign("-")) {
      result = new Call(Operator.NEGATE, scalar(unary()));
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
      if (in.takesSign("!")) {
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
          case TEXT -> new Expr.Words(ParsedAnswer.plainWords(token.text()));
          case COMMAND -> command(token.text());
          case SIGN -> bracket(token.text());
          case END -> throw unreadable();
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

  private Expr letter(String name) {
    if (in.takesSign("_")) {
      return new Variable(name + "_" + in.takeSubscript());
    }
    return switch (name) {
      case "e" -> new Constant(Constant.Name.E);
      case "i" -> new Constant(Constant.Name.I);
      default -> new Variable(name);
    };
  }

  /** A short word that is no unit here is the product of its letters. */
  private Expr word(String word) {
    if (word.length() > 3) {
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
    if (in.takesCommand("choose")) {
      inside = new Call(Operator.BINOMIAL, scalar(inside), scalar(sum()));
    } else if (in.takesCommand("over")) {
      inside = new Call(Operator.DIVIDE, scalar(inside), scalar(sum()));
    }
    bars = outer;
    in.expectSign("}");
    return inside;
  }

  private Expr set() {
    if (in.takesSign("\\}")) {
      return AtomParser.EMPTY_SET;
    }
    int outer = bars;
    bars = 0;
    Expr inside = list('{', '}');
    bars = outer;
    in.expectSign("\\}");
    return inside instanceof Listing listing && listing.isSet()
        ? inside
        : new Listing('{', '}', List.of(inside));
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
      return matrix(name.substring("begin:".length()));
    }
    Optional<Operator> function = Operator.function(name);
    if (function.isPresent()) {
      return function(function.get());
    }
    return switch (name) {
      case "pi" -> new Constant(Constant.Name.PI);
      case "infty" -> new Constant(Constant.Name.INFINITY);
      case "emptyset" -> AtomParser.EMPTY_SET;
      case "frac" -> new Call(Operator.DIVIDE, argument(), argument());
      case "binom" -> new Call(Operator.BINOMIAL, argument(), argument());
      case "sqrt" -> root();
      case "lfloor" -> closed(Operator.FLOOR, "rfloor");
      case "lceil" -> closed(Operator.CEILING, "rceil");
      default -> throw unreadable();
    };
  }

  /** A command's argument: a group, or the next digit or letter. */
  private Expr argument() {
    if (in.peek().kind() == Kind.NUMBER) {
      return AtomParser.number(in.takeDigit());
    }
    if (in.peek().kind() == Kind.WORD) {
      return letter(in.takeLetter());
    }
    return scalar(primary());
  }

  private Expr root() {
    Expr degree = new Numeral(Rational.of(2), false);
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
      if (raised.equals(new Call(Operator.NEGATE, new Numeral(Rational.ONE, false)))
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

  private Expr matrix(String environment) {
    boolean determinant = environment.equals("vmatrix");
    boolean array = environment.equals("array");
    if (!array && !determinant && !environment.matches("[pb]?matrix|smallmatrix")) {
      throw unreadable();
    }
    if (array) {
      while (!in.takesSign("}")) {
        if (in.next().kind() == Kind.END) {
          throw unreadable();
        }
      }
    }
    List<List<Expr>> rows = new ArrayList<>();
    while (!in.takesCommand("end:" + environment)) {
      List<Expr> row = new ArrayList<>(List.of(scalar(sum())));
      while (in.takesSign("&")) {
        row.add(scalar(sum()));
      }
      rows.add(List.copyOf(row));
      if (row.size() != rows.get(0).size()
          || (!in.takesSign("\\\\") && !in.peek().isCommand("end:" + environment))) {
        throw unreadable();
      }
    }
    if (rows.isEmpty()) {
      throw unreadable();
    }
    return new Expr.Matrix(determinant, List.copyOf(rows));
  }

  /** The same expression, if it can be in a sum; sets, words and relations cannot. */
  private static Expr scalar(Expr expr) {
    return switch (expr) {
      case Numeral _, Constant _, Variable _, Call _ -> expr;
      case Expr.Structure _ -> throw unreadable();
    };
  }
}
