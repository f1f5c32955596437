package io.troupe.chat.jinja;

import io.troupe.chat.python.TemplateValue;
import java.util.List;
import java.util.Map;

/** An expression of a template. */
sealed interface Expression {
  record Literal(TemplateValue value) implements Expression {}

  record Name(String name, int line) implements Expression {}

  record Sequence(List<Expression> items) implements Expression {}

  record TupleOf(List<Expression> items) implements Expression {}

  record Mapping(List<Map.Entry<Expression, Expression>> entries, int line) implements Expression {}

  record Attribute(Expression of, String name, int line) implements Expression {}

  record Item(Expression of, Expression key, int line) implements Expression {}

  /** A slice of a sequence; an absent bound is {@link TemplateValue.None}. */
  record Slice(Expression of, Expression from, Expression to, Expression step, int line)
      implements Expression {}

  record Call(Expression function, Arguments arguments, int line) implements Expression {}

  record Filter(Expression of, String name, Arguments arguments, int line) implements Expression {}

  record Test(Expression of, String name, Arguments arguments, boolean negated, int line)
      implements Expression {}

  record Not(Expression of) implements Expression {}

  record Negative(Expression of, int line) implements Expression {}

  record Positive(Expression of, int line) implements Expression {}

  record Binary(String operator, Expression left, Expression right, int line)
      implements Expression {}

  /** A chain of comparisons, as in {@code 0 < x <= 9}. */
  record Comparison(Expression first, List<Step> steps, int line) implements Expression {
    record Step(String operator, Expression right) {}
  }

  record And(Expression left, Expression right) implements Expression {}

  record Or(Expression left, Expression right) implements Expression {}

  record Conditional(Expression condition, Expression then, Expression otherwise)
      implements Expression {}

  /** Expressions by position and by name. */
  record Arguments(List<Expression> positional, Map<String, Expression> named) {
    static final Arguments NONE = new Arguments(List.of(), Map.of());
  }
}
