package io.troupe.chat.python;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The arguments of a call by the names of their parameters. What no parameter takes is refused. */
public final class CallArguments {
  private static final String OPTIONAL = "?";

  /** Parameters before it take no argument by name. */
  private static final String POSITIONAL = "/";

  private final String function;
  private final Map<String, TemplateValue> values;

  private CallArguments(String function, Map<String, TemplateValue> values) {
    this.function = function;
    this.values = values;
  }

  /**
   * Binds arguments.
   *
   * @param parameters their names with blanks between them; one with {@code ?} behind it may be
   *     left out, and those before a {@code /} are given by position only
   * @throws TemplateException if an argument is missing, or one is given that no parameter takes
   */
  public static CallArguments of(
      String function,
      String parameters,
      List<TemplateValue> positional,
      Map<String, TemplateValue> named) {
    List<String> declared = parameters.isEmpty() ? List.of() : List.of(parameters.split(" "));
    int positionalOnly = declared.indexOf(POSITIONAL);
    List<String> names =
        declared.stream()
            .filter(name -> !name.equals(POSITIONAL))
            .map(name -> name.replace(OPTIONAL, ""))
            .toList();
    if (positional.size() > names.size()) {
      throw new TemplateException(
          "'%s' takes %d arguments at most, not %d"
              .formatted(function, names.size(), positional.size()));
    }
    Map<String, TemplateValue> values = new HashMap<>();
    for (int i = 0; i < positional.size(); i++) {
      values.put(names.get(i), positional.get(i));
    }
    named.forEach(
        (name, value) -> {
          if (names.indexOf(name) < Math.max(0, positionalOnly) || values.containsKey(name)) {
            throw new TemplateException("'%s' takes no argument '%s'".formatted(function, name));
          }
          values.put(name, value);
        });
    for (String name : declared) {
      if (!name.endsWith(OPTIONAL) && !name.equals(POSITIONAL) && !values.containsKey(name)) {
        throw new TemplateException("'%s' needs the argument '%s'".formatted(function, name));
      }
    }
    return new CallArguments(function, values);
  }

  /** An argument that is there. */
  public TemplateValue get(String name) {
    return find(name)
        .orElseThrow(
            () -> new TemplateException("'%s' needs the argument '%s'".formatted(function, name)));
  }

  /** An argument, if it is given. */
  public Optional<TemplateValue> find(String name) {
    return Optional.ofNullable(values.get(name));
  }

  /** An argument that is given and not None. */
  public Optional<TemplateValue> some(String name) {
    return find(name).filter(value -> !(value instanceof TemplateValue.None));
  }

  public boolean flag(String name) {
    return find(name).map(TemplateValue::truth).orElse(false);
  }

  public String string(String name) {
    return get(name).string();
  }

  public int index(String name, int otherwise) {
    return find(name).map(TemplateValue::index).orElse(otherwise);
  }
}
