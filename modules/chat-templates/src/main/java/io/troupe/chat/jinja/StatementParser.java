package io.troupe.chat.jinja;

import io.troupe.chat.jinja.TemplateToken.Kind;
import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Builds statements from tokens. */
final class StatementParser {
  private final ExpressionParser expressions;

  private StatementParser(List<TemplateToken> tokens) {
    this.expressions = new ExpressionParser(tokens);
  }

  static List<Statement> parse(String template) {
    StatementParser parser = new StatementParser(Lexer.tokens(template));
    List<Statement> body = parser.until(Set.of());
    TemplateToken left = parser.expressions.peek();
    if (left.kind() != Kind.END) {
      throw new TemplateException(left.line(), "a tag ends what none began");
    }
    return body;
  }

  /** Parses statements up to a tag with one of the names, and does not consume the tag. */
  private List<Statement> until(Set<String> ends) {
    List<Statement> body = new ArrayList<>();
    while (true) {
      TemplateToken token = expressions.peek();
      switch (token.kind()) {
        case END -> {
          if (!ends.isEmpty()) {
            throw new TemplateException(token.line(), "the template ends without " + ends);
          }
          return body;
        }
        case DATA -> body.add(new Statement.Data(expressions.next().text()));
        case OUTPUT -> {
          expressions.next();
          Expression value = expressions.tuple();
          expressions.close();
          body.add(new Statement.Output(value, token.line()));
        }
        case TAG -> {
          if (ends.contains(expressions.peek(1).text())) {
            return body;
          }
          expressions.next();
          body.add(tag(expressions.name(), token.line()));
        }
        default -> throw new TemplateException(token.line(), "'%s' is unexpected".formatted(token));
      }
    }
  }

  private Statement tag(String name, int line) {
    return switch (name) {
      case "if" -> branches();
      case "for" -> loop(line);
      case "set" -> assignment(line);
      case "macro" -> macro();
      case "filter" -> filter();
      case "with" -> with(line);
      case "break" -> {
        expressions.close();
        yield new Statement.Break(line);
      }
      case "continue" -> {
        expressions.close();
        yield new Statement.Continue(line);
      }
      case "generation" -> {
        expressions.close();
        yield new Statement.Generation(bodyUntil("endgeneration"));
      }
      default ->
          throw new TemplateException(
              line,
              "the tag '%s' is none of if, for, set, with, macro, filter, break, continue, raw, generation"
                  .formatted(name));
    };
  }

  private List<Statement> bodyUntil(String end) {
    List<Statement> body = until(Set.of(end));
    endTag();
    expressions.close();
    return body;
  }

  private String endTag() {
    expressions.next();
    return expressions.name();
  }

  private Statement branches() {
    List<Statement.If.Branch> branches = new ArrayList<>();
    List<Statement> otherwise = List.of();
    String tag = "if";
    while (!tag.equals("endif")) {
      if (tag.equals("else")) {
        expressions.close();
        otherwise = until(Set.of("endif"));
      } else {
        Expression condition = expressions.tuple();
        expressions.close();
        branches.add(new Statement.If.Branch(condition, until(Set.of("elif", "else", "endif"))));
      }
      tag = endTag();
    }
    expressions.close();
    return new Statement.If(branches, otherwise);
  }

  private Statement loop(int line) {
    Statement.Target target = target();
    expressions.expectName("in");
    Expression iterable = expressions.tupleWithoutCondition();
    Expression filter = new Expression.Literal(TemplateValue.Bool.TRUE);
    if (expressions.takeName("if")) {
      filter = expressions.expression();
    }
    if (expressions.takeName("recursive")) {
      throw new TemplateException(line, "recursive loops are not supported");
    }
    expressions.close();
    List<Statement> body = until(Set.of("else", "endfor"));
    List<Statement> otherwise = List.of();
    if (endTag().equals("else")) {
      expressions.close();
      otherwise = until(Set.of("endfor"));
      endTag();
    }
    expressions.close();
    return new Statement.For(target, iterable, filter, body, otherwise, line);
  }

  /** Parses one name, or several with commas between them, which may be nested in parentheses. */
  private Statement.Target target() {
    List<Statement.Target> parts = new ArrayList<>(List.of(part()));
    boolean several = false;
    while (expressions.take(",")) {
      several = true;
      if ((expressions.peek().kind() == Kind.NAME && !expressions.peek().is(Kind.NAME, "in"))
          || expressions.peek().is(Kind.OPERATOR, "(")) {
        parts.add(part());
      }
    }
    return several ? new Statement.Target.Several(parts) : parts.getFirst();
  }

  private Statement.Target part() {
    if (expressions.take("(")) {
      Statement.Target inner = target();
      expressions.expect(")");
      return inner;
    }
    String name = expressions.name();
    return expressions.take(".")
        ? new Statement.Target.Member(name, expressions.name())
        : new Statement.Target.Variable(name);
  }

  private Statement assignment(int line) {
    Statement.Target target = target();
    if (expressions.take("=")) {
      Expression value = expressions.tuple();
      expressions.close();
      return new Statement.Set(target, value, line);
    }
    if (target instanceof Statement.Target.Several) {
      throw new TemplateException(line, "'set' of several names needs a value");
    }
    List<Statement.Filtering> filters = expressions.take("|") ? filters() : List.of();
    expressions.close();
    return new Statement.SetBlock(target, filters, bodyUntil("endset"), line);
  }

  private Statement with(int line) {
    List<Statement.Set> variables = new ArrayList<>();
    while (expressions.peek().kind() != Kind.CLOSE) {
      if (!variables.isEmpty()) {
        expressions.expect(",");
      }
      Statement.Target target = part();
      expressions.expect("=");
      variables.add(new Statement.Set(target, expressions.expression(), line));
    }
    expressions.close();
    return new Statement.With(variables, bodyUntil("endwith"));
  }

  private Statement macro() {
    String name = expressions.name();
    List<String> parameters = new ArrayList<>();
    Map<String, Expression> defaults = new LinkedHashMap<>();
    expressions.expect("(");
    while (!expressions.take(")")) {
      String parameter = expressions.name();
      parameters.add(parameter);
      if (expressions.take("=")) {
        defaults.put(parameter, expressions.expression());
      }
      if (!expressions.peek().is(Kind.OPERATOR, ")")) {
        expressions.expect(",");
      }
    }
    expressions.close();
    return new Statement.Macro(name, parameters, defaults, bodyUntil("endmacro"));
  }

  private Statement filter() {
    List<Statement.Filtering> filters = filters();
    expressions.close();
    return new Statement.FilterBlock(filters, bodyUntil("endfilter"));
  }

  /** Parses the names of filters with their arguments, and {@code |} between them. */
  private List<Statement.Filtering> filters() {
    List<Statement.Filtering> filters = new ArrayList<>();
    do {
      int line = expressions.peek().line();
      String name = expressions.name();
      Expression.Arguments arguments =
          expressions.take("(") ? expressions.arguments() : Expression.Arguments.NONE;
      filters.add(new Statement.Filtering(name, arguments, line));
    } while (expressions.take("|"));
    return filters;
  }
}
