package io.troupe.chat.jinja;

import io.troupe.chat.jinja.Expression.Arguments;
import io.troupe.chat.jinja.TemplateToken.Kind;
import io.troupe.chat.python.NumberText;
import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Builds expressions from tokens, with Jinja's precedences: one method for each level, from the
 * lowest precedence up.
 */
final class ExpressionParser {
  private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
  private static final Expression NOT_GIVEN = new Expression.Literal(TemplateValue.None.NONE);

  private final List<TemplateToken> tokens;
  private int at;

  ExpressionParser(List<TemplateToken> tokens) {
    this.tokens = tokens;
  }

  TemplateToken peek() {
    return peek(0);
  }

  TemplateToken peek(int ahead) {
    return tokens.get(Math.min(at + ahead, tokens.size() - 1));
  }

  TemplateToken next() {
    TemplateToken token = peek();
    at++;
    return token;
  }

  boolean take(String operator) {
    boolean there = peek().is(Kind.OPERATOR, operator);
    at += there ? 1 : 0;
    return there;
  }

  boolean takeName(String name) {
    boolean there = peek().is(Kind.NAME, name);
    at += there ? 1 : 0;
    return there;
  }

  void expect(String operator) {
    if (!take(operator)) {
      throw unexpected("'" + operator + "'");
    }
  }

  void expectName(String name) {
    if (!takeName(name)) {
      throw unexpected("'" + name + "'");
    }
  }

  String name() {
    if (peek().kind() != Kind.NAME) {
      throw unexpected("a name");
    }
    return next().text();
  }

  void close() {
    if (peek().kind() != Kind.CLOSE) {
      throw unexpected("the end of the tag");
    }
    at++;
  }

  private TemplateException unexpected(String wanted) {
    TemplateToken token = peek();
    String found = token.kind() == Kind.CLOSE ? "the end of the tag" : "'" + token.text() + "'";
    return new TemplateException(
        token.line(), "there is %s where %s should be".formatted(found, wanted));
  }

  /** Parses an expression, or a tuple of those with commas between them. */
  Expression tuple() {
    return tuple(this::expression);
  }

  /** Parses the same without a following {@code if}. */
  Expression tupleWithoutCondition() {
    return tuple(this::withoutCondition);
  }

  private Expression tuple(Supplier<Expression> part) {
    Expression first = part.get();
    if (!peek().is(Kind.OPERATOR, ",")) {
      return first;
    }
    List<Expression> items = new ArrayList<>(List.of(first));
    while (take(",") && !endsTuple()) {
      items.add(part.get());
    }
    return new Expression.TupleOf(items);
  }

  private boolean endsTuple() {
    return peek().kind() == Kind.CLOSE
        || peek().is(Kind.OPERATOR, ")")
        || peek().is(Kind.NAME, "recursive");
  }

  Expression expression() {
    Expression value = withoutCondition();
    while (takeName("if")) {
      Expression condition = withoutCondition();
      Expression otherwise =
          takeName("else")
              ? expression()
              : new Expression.Literal(new TemplateValue.Undefined("else"));
      value = new Expression.Conditional(condition, value, otherwise);
    }
    return value;
  }

  /** Parses an expression that does not include a following {@code if}. */
  Expression withoutCondition() {
    Expression left = and();
    while (takeName("or")) {
      left = new Expression.Or(left, and());
    }
    return left;
  }

  private Expression and() {
    Expression left = not();
    while (takeName("and")) {
      left = new Expression.And(left, not());
    }
    return left;
  }

  private Expression not() {
    return takeName("not") ? new Expression.Not(not()) : comparison();
  }

  private Expression comparison() {
    int line = peek().line();
    Expression first = sum();
    List<Expression.Comparison.Step> steps = new ArrayList<>();
    while (true) {
      if (peek().kind() == Kind.OPERATOR && COMPARISONS.contains(peek().text())) {
        steps.add(new Expression.Comparison.Step(next().text(), sum()));
      } else if (takeName("in")) {
        steps.add(new Expression.Comparison.Step("in", sum()));
      } else if (peek().is(Kind.NAME, "not") && peek(1).is(Kind.NAME, "in")) {
        at += 2;
        steps.add(new Expression.Comparison.Step("not in", sum()));
      } else {
        return steps.isEmpty() ? first : new Expression.Comparison(first, steps, line);
      }
    }
  }

  private Expression sum() {
    Expression left = concatenation();
    while (peek().is(Kind.OPERATOR, "+") || peek().is(Kind.OPERATOR, "-")) {
      TemplateToken operator = next();
      left = new Expression.Binary(operator.text(), left, concatenation(), operator.line());
    }
    return left;
  }

  private Expression concatenation() {
    Expression left = product();
    while (peek().is(Kind.OPERATOR, "~")) {
      left = new Expression.Binary("~", left, afterOperator(), peek().line());
    }
    return left;
  }

  private Expression afterOperator() {
    at++;
    return product();
  }

  private Expression product() {
    Expression left = power();
    while (peek().kind() == Kind.OPERATOR && Set.of("*", "/", "//", "%").contains(peek().text())) {
      TemplateToken operator = next();
      left = new Expression.Binary(operator.text(), left, power(), operator.line());
    }
    return left;
  }

  private Expression power() {
    Expression left = unary(true);
    while (peek().is(Kind.OPERATOR, "**")) {
      TemplateToken operator = next();
      left = new Expression.Binary("**", left, unary(true), operator.line());
    }
    return left;
  }

  private Expression unary(boolean filtered) {
    TemplateToken token = peek();
    Expression value;
    if (take("-")) {
      value = new Expression.Negative(unary(false), token.line());
    } else if (take("+")) {
      value = new Expression.Positive(unary(false), token.line());
    } else {
      value = postfix(primary());
    }
    return filtered ? filters(value) : value;
  }

  private Expression primary() {
    TemplateToken token = next();
    return switch (token.kind()) {
      case NAME ->
          switch (token.text()) {
            case "true", "True" -> new Expression.Literal(TemplateValue.Bool.TRUE);
            case "false", "False" -> new Expression.Literal(TemplateValue.Bool.FALSE);
            case "none", "None" -> new Expression.Literal(TemplateValue.None.NONE);
            default -> new Expression.Name(token.text(), token.line());
          };
      case STRING -> {
        StringBuilder text = new StringBuilder(token.text());
        while (peek().kind() == Kind.STRING) {
          text.append(next().text());
        }
        yield new Expression.Literal(new TemplateValue.Text(text.toString()));
      }
      case INTEGER ->
          new Expression.Literal(
              new TemplateValue.Int(NumberText.whole(token.text(), 0).orElseThrow()));
      case FLOAT ->
          new Expression.Literal(
              new TemplateValue.Real(NumberText.real(token.text()).orElseThrow()));
      default -> {
        at--;
        yield bracketed();
      }
    };
  }

  private Expression bracketed() {
    if (take("(")) {
      if (take(")")) {
        return new Expression.TupleOf(List.of());
      }
      Expression value = tuple();
      expect(")");
      return value;
    }
    if (take("[")) {
      List<Expression> items = new ArrayList<>();
      while (!take("]")) {
        items.add(expression());
        separator("]");
      }
      return new Expression.Sequence(items);
    }
    int line = peek().line();
    if (take("{")) {
      List<Map.Entry<Expression, Expression>> entries = new ArrayList<>();
      while (!take("}")) {
        Expression key = expression();
        expect(":");
        entries.add(Map.entry(key, expression()));
        separator("}");
      }
      return new Expression.Mapping(entries, line);
    }
    throw unexpected("a value");
  }

  private void separator(String end) {
    if (!peek().is(Kind.OPERATOR, end)) {
      expect(",");
    }
  }

  private Expression postfix(Expression start) {
    Expression value = start;
    while (true) {
      int line = peek().line();
      if (take(".")) {
        value =
            peek().kind() == Kind.INTEGER
                ? new Expression.Item(value, primary(), line)
                : new Expression.Attribute(value, name(), line);
      } else if (take("[")) {
        value = subscript(value, line);
      } else if (take("(")) {
        value = new Expression.Call(value, arguments(), line);
      } else {
        return value;
      }
    }
  }

  private Expression subscript(Expression of, int line) {
    Expression from = peek().is(Kind.OPERATOR, ":") ? NOT_GIVEN : expression();
    if (!take(":")) {
      expect("]");
      return new Expression.Item(of, from, line);
    }
    Expression to = bound();
    Expression step = take(":") ? bound() : NOT_GIVEN;
    expect("]");
    return new Expression.Slice(of, from, to, step, line);
  }

  private Expression bound() {
    boolean none = peek().is(Kind.OPERATOR, ":") || peek().is(Kind.OPERATOR, "]");
    return none ? NOT_GIVEN : expression();
  }

  /** Parses arguments after an open parenthesis, and the closing parenthesis. */
  Arguments arguments() {
    List<Expression> positional = new ArrayList<>();
    Map<String, Expression> named = new LinkedHashMap<>();
    while (!take(")")) {
      if (peek().kind() == Kind.NAME && peek(1).is(Kind.OPERATOR, "=")) {
        String name = name();
        expect("=");
        if (named.put(name, expression()) != null) {
          throw new TemplateException(
              peek().line(), "the argument '%s' is there twice".formatted(name));
        }
      } else if (!named.isEmpty()) {
        throw new TemplateException(
            peek().line(), "an argument without a name follows one with a name");
      } else {
        positional.add(expression());
      }
      separator(")");
    }
    return new Arguments(positional, named);
  }

  private Expression filters(Expression start) {
    Expression value = start;
    while (true) {
      int line = peek().line();
      if (take("|")) {
        String name = name();
        value = new Expression.Filter(value, name, take("(") ? arguments() : Arguments.NONE, line);
      } else if (takeName("is")) {
        value = test(value, line);
      } else if (take("(")) {
        value = new Expression.Call(value, arguments(), line);
      } else {
        return value;
      }
    }
  }

  private Expression test(Expression of, int line) {
    boolean negated = takeName("not");
    String name = name();
    Arguments arguments = Arguments.NONE;
    if (take("(")) {
      arguments = arguments();
    } else if (startsOperand()) {
      arguments = new Arguments(List.of(postfix(primary())), Map.of());
    }
    return new Expression.Test(of, name, arguments, negated, line);
  }

  /** Whether the argument of a test follows it without parentheses. */
  private boolean startsOperand() {
    TemplateToken token = peek();
    return switch (token.kind()) {
      case STRING, INTEGER, FLOAT -> true;
      case NAME -> {
        if (token.text().equals("is")) {
          throw new TemplateException(token.line(), "tests cannot be chained with 'is'");
        }
        yield !Set.of("else", "or", "and").contains(token.text());
      }
      case OPERATOR -> token.text().equals("[") || token.text().equals("{");
      default -> false;
    };
  }
}
