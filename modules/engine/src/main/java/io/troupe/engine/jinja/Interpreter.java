package io.troupe.engine.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs statements. */
final class Interpreter {
  /** How a run of statements ended. */
  private enum Flow {
    ON,
    BREAK,
    CONTINUE
  }

  private final StringBuilder output = new StringBuilder();

  private Interpreter() {}

  /** The text that statements make in a scope. */
  static String run(List<Statement> body, Scope scope) {
    Interpreter interpreter = new Interpreter();
    interpreter.all(body, scope);
    return interpreter.output.toString();
  }

  private Flow all(List<Statement> body, Scope scope) {
    for (Statement statement : body) {
      Flow flow = one(statement, scope);
      if (flow != Flow.ON) {
        return flow;
      }
    }
    return Flow.ON;
  }

  private Flow one(Statement statement, Scope scope) {
    switch (statement) {
      case Statement.Data(String text) -> output.append(text);
      case Statement.Output(Expression value, int line) ->
          output.append(Evaluation.at(line, () -> Evaluation.of(value, scope).text()));
      case Statement.If branches -> {
        return branch(branches, scope);
      }
      case Statement.For loop -> loop(loop, scope);
      case Statement.Set set -> assign(set, scope);
      case Statement.SetAttribute(String object, String attribute, Expression value, int line) -> {
        if (!(scope.get(object) instanceof Value.Namespace(var attributes))) {
          throw new TemplateException(line, "'%s' is no namespace".formatted(object));
        }
        attributes.put(attribute, Evaluation.of(value, scope));
      }
      case Statement.SetBlock(String target, var body) ->
          scope.set(target, new Value.Text(run(body, scope.inner())));
      case Statement.Macro macro -> scope.set(macro.name(), function(macro, scope));
      case Statement.FilterBlock(String name, var arguments, var body, int line) -> {
        Expression text = new Expression.Literal(new Value.Text(run(body, scope.inner())));
        Expression filtered = new Expression.Filter(text, name, arguments, line);
        output.append(Evaluation.of(filtered, scope).text());
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

  private Flow branch(Statement.If branches, Scope scope) {
    for (Statement.If.Branch branch : branches.branches()) {
      if (Evaluation.of(branch.condition(), scope).truth()) {
        return all(branch.body(), scope);
      }
    }
    return all(branches.otherwise(), scope);
  }

  private static void assign(Statement.Set set, Scope scope) {
    Value value = Evaluation.of(set.value(), scope);
    bind(set.targets(), value, scope, set.line());
  }

  private static void bind(List<String> targets, Value value, Scope scope, int line) {
    if (targets.size() == 1) {
      scope.set(targets.getFirst(), value);
      return;
    }
    List<Value> items = value.items();
    if (items.size() != targets.size()) {
      throw new TemplateException(
          line, "%d names take no %d values".formatted(targets.size(), items.size()));
    }
    for (int i = 0; i < targets.size(); i++) {
      scope.set(targets.get(i), items.get(i));
    }
  }

  private void loop(Statement.For loop, Scope outer) {
    List<Value> chosen = new ArrayList<>();
    List<Value> all =
        Evaluation.at(loop.line(), () -> Evaluation.of(loop.iterable(), outer).items());
    for (Value item : all) {
      Scope scope = outer.inner();
      bind(loop.targets(), item, scope, loop.line());
      if (Evaluation.of(loop.filter(), scope).truth()) {
        chosen.add(item);
      }
    }
    for (int i = 0; i < chosen.size(); i++) {
      Scope scope = outer.inner();
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

  private static Value position(List<Value> items, int i) {
    int size = items.size();
    Map<String, Value> loop = new LinkedHashMap<>();
    loop.put("index", new Value.Int(i + 1L));
    loop.put("index0", new Value.Int(i));
    loop.put("revindex", new Value.Int((long) size - i));
    loop.put("revindex0", new Value.Int(size - i - 1L));
    loop.put("first", Value.of(i == 0));
    loop.put("last", Value.of(i == size - 1));
    loop.put("length", new Value.Int(size));
    if (i > 0) {
      loop.put("previtem", items.get(i - 1));
    }
    if (i < size - 1) {
      loop.put("nextitem", items.get(i + 1));
    }
    loop.put(
        "cycle",
        new Value.Callable("cycle", (positional, _) -> positional.get(i % positional.size())));
    return new Value.Dict(loop);
  }

  private static Value function(Statement.Macro macro, Scope defined) {
    return new Value.Callable(
        macro.name(),
        (positional, named) -> {
          Scope scope = defined.inner();
          if (positional.size() > macro.parameters().size()) {
            throw new TemplateException(
                "the macro %s takes %d arguments, not %d"
                    .formatted(macro.name(), macro.parameters().size(), positional.size()));
          }
          for (int i = 0; i < macro.parameters().size(); i++) {
            String parameter = macro.parameters().get(i);
            Value given = i < positional.size() ? positional.get(i) : named.get(parameter);
            Expression byDefault = macro.defaults().get(parameter);
            if (given == null) {
              given =
                  byDefault == null
                      ? new Value.Undefined(parameter)
                      : Evaluation.of(byDefault, scope);
            }
            scope.set(parameter, given);
          }
          return new Value.Text(run(macro.body(), scope));
        });
  }
}
