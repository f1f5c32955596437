package io.troupe.engine.jinja;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Names and their values; a scope sees what surrounds it and changes only itself. */
final class Scope {
  private final Map<String, Value> values = new HashMap<>();
  private final Optional<Scope> outer;

  private Scope(Optional<Scope> outer) {
    this.outer = outer;
  }

  static Scope of(Map<String, Value> values) {
    Scope scope = new Scope(Optional.empty());
    scope.values.putAll(values);
    return scope;
  }

  Scope inner() {
    return new Scope(Optional.of(this));
  }

  void set(String name, Value value) {
    values.put(name, value);
  }

  Value get(String name) {
    Value value = values.get(name);
    if (value != null) {
      return value;
    }
    return outer.map(scope -> scope.get(name)).orElseGet(() -> new Value.Undefined(name));
  }
}
