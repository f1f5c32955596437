package io.troupe.chat.jinja;

import io.troupe.chat.python.TemplateValue;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Names and their values; a scope sees the variables of the scopes around it and changes only its
 * own.
 */
final class VariableScope {
  private final Map<String, TemplateValue> values = new HashMap<>();
  private final Optional<VariableScope> outer;

  private VariableScope(Optional<VariableScope> outer) {
    this.outer = outer;
  }

  static VariableScope of(Map<String, TemplateValue> values) {
    VariableScope scope = new VariableScope(Optional.empty());
    scope.values.putAll(values);
    return scope;
  }

  VariableScope inner() {
    return new VariableScope(Optional.of(this));
  }

  void set(String name, TemplateValue value) {
    values.put(name, value);
  }

  TemplateValue get(String name) {
    TemplateValue value = values.get(name);
    if (value != null) {
      return value;
    }
    return outer.map(scope -> scope.get(name)).orElseGet(() -> new TemplateValue.Undefined(name));
  }
}
