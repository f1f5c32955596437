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

  /** What a value is bound to. */
  sealed interface Target {
    record Variable(String name) implements Target {}

    record Member(String object, String attribute) implements Target {}

    record Several(List<Target> parts) implements Target {}
  }

  /** A filter of a block, in the order in which they apply. */
  record Filtering(String name, Expression.Arguments arguments, int line) {}

  /** A loop; {@code filter} is a literal true if the template has none. */
  record For(
      Target target,
      Expression iterable,
      Expression filter,
      List<Statement> body,
      List<Statement> otherwise,
      int line)
      implements Statement {}

  record Set(Target target, Expression value, int line) implements Statement {}

  record SetBlock(Target target, List<Filtering> filters, List<Statement> body, int line)
      implements Statement {}

  /** A block with variables of its own; their values are those of the scope around it. */
  record With(List<Set> variables, List<Statement> body) implements Statement {}

  record Macro(
      String name, List<String> parameters, Map<String, Expression> defaults, List<Statement> body)
      implements Statement {}

  record FilterBlock(List<Filtering> filters, List<Statement> body) implements Statement {}

  record Break(int line) implements Statement {}

  record Continue(int line) implements Statement {}

  /** What the model itself writes, in a scope of its own. */
  record Generation(List<Statement> body) implements Statement {}
}
