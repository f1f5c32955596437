package io.troupe.chat.jinja;

import io.troupe.chat.python.CallArguments;
import io.troupe.chat.python.PythonOperators;
import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs statements. */
final class Interpreter {
  /** The way in which a run of statements ended. */
  private enum Flow {
    ON,
    BREAK,
    CONTINUE
  }

  private final StringBuilder output = new StringBuilder();

  private Interpreter() {}

  /** Returns the output of statements in a scope. */
  static String run(List<Statement> body, VariableScope scope) {
    Interpreter interpreter = new Interpreter();
    interpreter.all(body, scope);
    return interpreter.output.toString();
  }

  private Flow all(List<Statement> body, VariableScope scope) {
    for (Statement statement : body) {
      Flow flow = one(statement, scope);
      if (flow != Flow.ON) {
        return flow;
      }
    }
    return Flow.ON;
  }

  private Flow one(Statement statement, VariableScope scope) {
    switch (statement) {
      case Statement.Data(String text) -> output.append(text);
      case Statement.Output(Expression value, int line) ->
          output.append(
              ExpressionEvaluator.at(line, () -> ExpressionEvaluator.of(value, scope).text()));
      case Statement.If branches -> {
        return branch(branches, scope);
      }
      case Statement.For loop -> loop(loop, scope);
      case Statement.Set set -> assign(set, scope, scope);
      case Statement.SetBlock(var target, var filters, var body, int line) ->
          bind(target, captured(filters, body, scope), scope, line);
      case Statement.With(var variables, var body) -> {
        VariableScope inner = scope.inner();
        variables.forEach(variable -> assign(variable, scope, inner));
        return all(body, inner);
      }
      case Statement.Macro macro -> scope.set(macro.name(), function(macro, scope));
      case Statement.FilterBlock(var filters, var body) ->
          output.append(captured(filters, body, scope).text());
      case Statement.Generation(var body) -> {
        String text = run(body, scope.inner());
        boolean marks = scope.get(GenerationMarks.ARGUMENT).truth();
        output.append(marks ? GenerationMarks.around(text) : text);
      }
      case Statement.Break _ -> {
        return Flow.BREAK;
      }
      case Statement.Continue _ -> {
        return Flow.CONTINUE;
      }
    }
    return Flow.ON;
  }

  private Flow branch(Statement.If branches, VariableScope scope) {
    for (Statement.If.Branch branch : branches.branches()) {
      if (ExpressionEvaluator.of(branch.condition(), scope).truth()) {
        return all(branch.body(), scope);
      }
    }
    return all(branches.otherwise(), scope);
  }

  private static TemplateValue captured(
      List<Statement.Filtering> filters, List<Statement> body, VariableScope scope) {
    TemplateValue text = new TemplateValue.Text(run(body, scope.inner()));
    for (Statement.Filtering filter : filters) {
      text =
          ExpressionEvaluator.filtered(
              filter.name(), text, filter.arguments(), filter.line(), scope);
    }
    return text;
  }

  private static void assign(Statement.Set set, VariableScope from, VariableScope to) {
    bind(set.target(), ExpressionEvaluator.of(set.value(), from), to, set.line());
  }

  private static void bind(
      Statement.Target target, TemplateValue value, VariableScope scope, int line) {
    switch (target) {
      case Statement.Target.Variable(String name) -> scope.set(name, value);
      case Statement.Target.Member(String object, String attribute) -> {
        if (!(scope.get(object) instanceof TemplateValue.Namespace(var attributes))) {
          throw new TemplateException(line, "'%s' is no namespace".formatted(object));
        }
        attributes.put(attribute, value);
      }
      case Statement.Target.Several(var parts) -> {
        List<TemplateValue> items = ExpressionEvaluator.at(line, value::items);
        if (items.size() != parts.size()) {
          throw new TemplateException(
              line, "%d names take no %d values".formatted(parts.size(), items.size()));
        }
        for (int i = 0; i < parts.size(); i++) {
          bind(parts.get(i), items.get(i), scope, line);
        }
      }
    }
  }

  private void loop(Statement.For loop, VariableScope outer) {
    List<TemplateValue> chosen = new ArrayList<>();
    List<TemplateValue> all =
        ExpressionEvaluator.at(
            loop.line(), () -> ExpressionEvaluator.of(loop.iterable(), outer).items());
    for (TemplateValue item : all) {
      VariableScope scope = outer.inner();
      bind(loop.target(), item, scope, loop.line());
      if (ExpressionEvaluator.of(loop.filter(), scope).truth()) {
        chosen.add(item);
      }
    }
    List<TemplateValue> changed = new ArrayList<>();
    for (int i = 0; i < chosen.size(); i++) {
      VariableScope scope = outer.inner();
      bind(loop.target(), chosen.get(i), scope, loop.line());
      scope.set("loop", position(chosen, i, changed));
      if (all(loop.body(), scope) == Flow.BREAK) {
        return;
      }
    }
    if (chosen.isEmpty()) {
      all(loop.otherwise(), outer.inner());
    }
  }

  /**
   * The place in a loop, as the variable {@code loop} knows it.
   *
   * @param changed what {@code loop.changed} was last asked with
   */
  private static TemplateValue position(
      List<TemplateValue> items, int i, List<TemplateValue> changed) {
    int size = items.size();
    return new TemplateValue.Special(
        "<LoopContext %d/%d>".formatted(i + 1, size),
        name ->
            switch (name) {
              case "index" -> TemplateValue.Int.of(i + 1L);
              case "index0" -> TemplateValue.Int.of(i);
              case "revindex" -> TemplateValue.Int.of((long) size - i);
              case "revindex0" -> TemplateValue.Int.of(size - i - 1L);
              case "first" -> TemplateValue.of(i == 0);
              case "last" -> TemplateValue.of(i == size - 1);
              case "length" -> TemplateValue.Int.of(size);
              // Only recursive loops are deeper, and those are refused.
              case "depth" -> TemplateValue.Int.of(1);
              case "depth0" -> TemplateValue.Int.of(0);
              case "previtem" -> i > 0 ? items.get(i - 1) : new TemplateValue.Undefined(name);
              case "nextitem" ->
                  i < size - 1 ? items.get(i + 1) : new TemplateValue.Undefined(name);
              case "cycle" ->
                  new TemplateValue.Callable(name, (given, named) -> cycled(given, named, i));
              case "changed" ->
                  new TemplateValue.Callable(
                      name, (given, named) -> changes(given, named, changed));
              default -> new TemplateValue.Undefined(name);
            });
  }

  private static TemplateValue cycled(
      List<TemplateValue> given, Map<String, TemplateValue> named, int i) {
    CallArguments.of("cycle", "", List.of(), named);
    if (given.isEmpty()) {
      throw new TemplateException("'cycle' needs values");
    }
    return given.get(i % given.size());
  }

  private static TemplateValue changes(
      List<TemplateValue> given, Map<String, TemplateValue> named, List<TemplateValue> last) {
    CallArguments.of("changed", "", List.of(), named);
    TemplateValue value = new TemplateValue.Tuple(given);
    boolean changes = last.isEmpty() || !PythonOperators.same(last.getFirst(), value);
    last.clear();
    last.add(value);
    return TemplateValue.of(changes);
  }

  private static TemplateValue function(Statement.Macro macro, VariableScope defined) {
    return new TemplateValue.Callable(
        macro.name(),
        (positional, named) -> {
          VariableScope scope = defined.inner();
          String parameters = String.join("? ", macro.parameters()) + "?";
          CallArguments given =
              CallArguments.of(
                  macro.name(), macro.parameters().isEmpty() ? "" : parameters, positional, named);
          for (String parameter : macro.parameters()) {
            Expression byDefault = macro.defaults().get(parameter);
            scope.set(
                parameter,
                given
                    .find(parameter)
                    .orElseGet(
                        () ->
                            byDefault == null
                                ? new TemplateValue.Undefined(parameter)
                                : ExpressionEvaluator.of(byDefault, scope)));
          }
          return new TemplateValue.Text(run(macro.body(), scope));
        });
  }
}
