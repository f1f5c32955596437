package io.troupe.chat.jinja;

import java.util.List;
import java.util.Map;

/** A statement of a template. */
sealed interface Statement {
  record Data(String text) implements Statement {}

  record Output(Expression value, int line) implements Statement {}

  record If(List<Branch> branches, List<Statement> otherwise) implements Statement {
    record Branch(Expression condition, List<Statement> body) {}
  }

  /** A loop; {@code filter} is a literal true if the template has none. */
  record For(
      List<String> targets,
      Expression iterable,
      Expression filter,
      List<Statement> body,
      List<Statement> otherwise,
      int line)
      implements Statement {}

  record Set(List<String> targets, Expression value, int line) implements Statement {}

  record SetAttribute(String object, String attribute, Expression value, int line)
      implements Statement {}

  record SetBlock(String target, List<Statement> body) implements Statement {}

  record Macro(
      String name, List<String> parameters, Map<String, Expression> defaults, List<Statement> body)
      implements Statement {}

  record FilterBlock(String name, Expression.Arguments arguments, List<Statement> body, int line)
      implements Statement {}

  record Break(int line) implements Statement {}

  record Continue(int line) implements Statement {}

  /** A sequence of statements in the enclosing scope. */
  record Block(List<Statement> body) implements Statement {}
}
