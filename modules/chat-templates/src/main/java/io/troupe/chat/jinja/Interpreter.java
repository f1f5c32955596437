package io.troupe.chat.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
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
      case Statement.Set set -> assign(set, scope);
      case Statement.SetAttribute(String object, String attribute, Expression value, int line) -> {
        if (!(scope.get(object) instanceof TemplateValue.Namespace(var attributes))) {
          throw new TemplateException(line, "'%s' is no namespace".formatted(object));
        }
        attributes.put(attribute, ExpressionEvaluator.of(value, scope));
      }
      case Statement.SetBlock(String target, var body) ->
          scope.set(target, new TemplateValue.Text(run(body, scope.inner())));
      case Statement.Macro macro -> scope.set(macro.name(), function(macro, scope));
      case Statement.FilterBlock(String name, var arguments, var body, int line) -> {
        Expression text = new Expression.Literal(new TemplateValue.Text(run(body, scope.inner())));
        Expression filtered = new Expression.Filter(text, name, arguments, line);
        output.append(ExpressionEvaluator.of(filtered, scope).text());
      }
      case Statement.Block(var body) -> {
        return all(body, scope);
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

  private static void assign(Statement.Set set, VariableScope scope) {
    TemplateValue value = ExpressionEvaluator.of(set.value(), scope);
    bind(set.targets(), value, scope, set.line());
  }

  private static void bind(
      List<String> targets, TemplateValue value, VariableScope scope, int line) {
    if (targets.size() == 1) {
      scope.set(targets.getFirst(), value);
      return;
    }
    List<TemplateValue> items = value.items();
    if (items.size() != targets.size()) {
      throw new TemplateException(
          line, "%d names take no %d values".formatted(targets.size(), items.size()));
    }
    for (int i = 0; i < targets.size(); i++) {
      scope.set(targets.get(i), items.get(i));
    }
  }

  private void loop(Statement.For loop, VariableScope outer) {
    List<TemplateValue> chosen = new ArrayList<>();
    List<TemplateValue> all =
        ExpressionEvaluator.at(
            loop.line(), () -> ExpressionEvaluator.of(loop.iterable(), outer).items());
    for (TemplateValue item : all) {
      VariableScope scope = outer.inner();
      bind(loop.targets(), item, scope, loop.line());
      if (ExpressionEvaluator.of(loop.filter(), scope).truth()) {
        chosen.add(item);
      }
    }
    for (int i = 0; i < chosen.size(); i++) {
      VariableScope scope = outer.inner();
      bind(loop.targets(), chosen.get(i), scope, loop.line());
      scope.set("loop", position(chosen, i));
      if (all(loop.body(), scope) == Flow.BREAK) {
        return;
      }
    }
    if (chosen.isEmpty()) {
      all(loop.otherwise(), outer.inner());
    }
  }

  private static TemplateValue position(List<TemplateValue> items, int i) {
    int size = items.size();
    Map<String, TemplateValue> loop = new LinkedHashMap<>();
    loop.put("index", new TemplateValue.Int(i + 1L));
    loop.put("index0", new TemplateValue.Int(i));
    loop.put("revindex", new TemplateValue.Int((long) size - i));
    loop.put("revindex0", new TemplateValue.Int(size - i - 1L));
    loop.put("first", TemplateValue.of(i == 0));
    loop.put("last", TemplateValue.of(i == size - 1));
    loop.put("length", new TemplateValue.Int(size));
    if (i > 0) {
      loop.put("previtem", items.get(i - 1));
    }
    if (i < size - 1) {
      loop.put("nextitem", items.get(i + 1));
    }
    loop.put(
        "cycle",
        new TemplateValue.Callable(
            "cycle", (positional, _) -> positional.get(i % positional.size())));
    return new TemplateValue.Dict(loop);
  }

  private static TemplateValue function(Statement.Macro macro, VariableScope defined) {
    return new TemplateValue.Callable(
        macro.name(),
        (positional, named) -> {
          VariableScope scope = defined.inner();
          if (positional.size() > macro.parameters().size()) {
            throw new TemplateException(
                "the macro %s takes %d arguments, not %d"
                    .formatted(macro.name(), macro.parameters().size(), positional.size()));
          }
          for (int i = 0; i < macro.parameters().size(); i++) {
            String parameter = macro.parameters().get(i);
            TemplateValue given = i < positional.size() ? positional.get(i) : named.get(parameter);
            Expression byDefault = macro.defaults().get(parameter);
            if (given == null) {
              given =
                  byDefault == null
                      ? new TemplateValue.Undefined(parameter)
                      : ExpressionEvaluator.of(byDefault, scope);
            }
            scope.set(parameter, given);
          }
          return new TemplateValue.Text(run(macro.body(), scope));
        });
  }
}
