package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Bound;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.List;
import java.util.Optional;

/** Reads sums, products, integrals and limits, which bind a variable. */
final class BoundParser {
  private final AnswerParser parser;
  private final AnswerTokenReader in;

  BoundParser(AnswerParser parser, AnswerTokenReader in) {
    this.parser = parser;
    this.in = in;
  }

  Optional<Expr> read(String command) {
    return switch (command) {
      case "sum" -> Optional.of(sum(Bound.Kind.SUM));
      case "prod" -> Optional.of(sum(Bound.Kind.PRODUCT));
      case "int" -> Optional.of(integral());
      case "lim" -> Optional.of(limit());
      default -> Optional.empty();
    };
  }

  private Expr sum(Bound.Kind kind) {
    in.expectSign("_");
    in.expectSign("{");
    boolean named = parser.relation() instanceof Relation relation && begin(relation);
    if (!named) {
      throw AnswerParser.unreadable();
    }
    Expr from = start;
    String variable = name;
    in.expectSign("}");
    in.expectSign("^");
    Expr to = AnswerParser.scalar(parser.argument());
    Expr body = AnswerParser.scalar(parser.product());
    return new Bound(
        kind, variable, List.of(from, to), variable.equals("i") ? withIndexI(body) : body);
  }

  /** Where i is the index, no i in the body is the imaginary unit. */
  private static Expr withIndexI(Expr body) {
    return isI(body) ? new Variable("i") : Expr.map(body, BoundParser::withIndexI);
  }

  private String name = "";
  private Expr start = Expr.Numeral.of(0);

  private boolean begin(Relation relation) {
    if (!relation.is(Expr.Sign.EQUAL)
        || !(relation.sides().get(0) instanceof Variable || isI(relation.sides().get(0)))) {
      return false;
    }
    name = relation.sides().get(0) instanceof Variable(var letter) ? letter : "i";
    start = AnswerParser.scalar(relation.sides().get(1));
    return true;
  }

  private static boolean isI(Expr expr) {
    return expr instanceof Expr.Constant(var constant) && constant == Expr.Constant.Name.I;
  }

  private Expr integral() {
    List<Expr> bounds = List.of();
    if (in.takesSign("_")) {
      Expr from = AnswerParser.scalar(parser.argument());
      in.expectSign("^");
      bounds = List.of(from, AnswerParser.scalar(parser.argument()));
    }
    Expr body = isDifferential() ? Expr.Numeral.of(1) : AnswerParser.scalar(parser.sum());
    if (!isDifferential()) {
      throw AnswerParser.unreadable();
    }
    String variable = in.next().text().substring("d:".length());
    return new Bound(Bound.Kind.INTEGRAL, variable, bounds, body);
  }

  private boolean isDifferential() {
    return in.peek().kind() == Kind.COMMAND && in.peek().text().startsWith("d:");
  }

  private Expr limit() {
    in.expectSign("_");
    in.expectSign("{");
    AnswerToken letter = in.next();
    if (letter.kind() != Kind.LETTER || !(in.takesCommand("to") || in.takesCommand("rightarrow"))) {
      throw AnswerParser.unreadable();
    }
    Bound.Kind kind = Bound.Kind.LIMIT;
    Expr to;
    if (in.peek().kind() == Kind.NUMBER && in.peek(1).isSign("^")) {
      to = AtomParser.number(in.next().text());
      in.next();
      boolean braced = in.takesSign("{");
      kind = in.takesSign("+") ? Bound.Kind.LIMIT_FROM_ABOVE : Bound.Kind.LIMIT_FROM_BELOW;
      if (kind == Bound.Kind.LIMIT_FROM_BELOW) {
        in.expectSign("-");
      }
      if (braced) {
        in.expectSign("}");
      }
    } else {
      to = AnswerParser.scalar(parser.sum());
    }
    in.expectSign("}");
    return new Bound(kind, letter.text(), List.of(to), AnswerParser.scalar(parser.product()));
  }
}
