package io.troupe.chat.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A value of a template, with Python's notions of truth, equality and text. */
sealed interface TemplateValue {
  /** The value of a missing name or attribute; a template may test and print it. */
  record Undefined(String what) implements TemplateValue {}

  record None() implements TemplateValue {
    static final None NONE = new None();
  }

  record Bool(boolean value) implements TemplateValue {
    static final Bool TRUE = new Bool(true);
    static final Bool FALSE = new Bool(false);
  }

  record Int(long value) implements TemplateValue {}

  record Real(double value) implements TemplateValue {}

  record Text(String value) implements TemplateValue {}

  record Seq(List<TemplateValue> items) implements TemplateValue {}

  record Dict(Map<String, TemplateValue> entries) implements TemplateValue {}

  /** The only value that a template may change from within a loop. */
  record Namespace(Map<String, TemplateValue> attributes) implements TemplateValue {}

  /** A function, macro or bound method. */
  record Callable(String name, Body body) implements TemplateValue {
    interface Body {
      TemplateValue call(List<TemplateValue> positional, Map<String, TemplateValue> named);
    }
  }

  static TemplateValue of(boolean value) {
    return value ? Bool.TRUE : Bool.FALSE;
  }

  /**
   * A Java object as a value: null, booleans, numbers, strings, lists, and maps with string keys.
   *
   * @throws TemplateException if the object is of another class
   */
  static TemplateValue of(@Nullable Object object) {
    return switch (object) {
      case null -> None.NONE;
      case TemplateValue value -> value;
      case Boolean bool -> of(bool.booleanValue());
      case Integer number -> new Int(number);
      case Long number -> new Int(number);
      case Float number -> new Real(number);
      case Double number -> new Real(number);
      case String text -> new Text(text);
      case Iterable<?> items -> {
        List<TemplateValue> values = new ArrayList<>();
        items.forEach(item -> values.add(of(item)));
        yield new Seq(values);
      }
      case Map<?, ?> map -> {
        Map<String, TemplateValue> values = new LinkedHashMap<>();
        map.forEach((key, value) -> values.put(String.valueOf(key), of(value)));
        yield new Dict(values);
      }
      default ->
          throw new TemplateException(
              "a template takes no %s; give it text, numbers, booleans, lists and maps"
                  .formatted(object.getClass().getName()));
    };
  }

  default boolean truth() {
    return switch (this) {
      case Undefined _, None _ -> false;
      case Bool(boolean value) -> value;
      case Int(long value) -> value != 0;
      case Real(double value) -> value != 0;
      case Text(String value) -> !value.isEmpty();
      case Seq(List<TemplateValue> items) -> !items.isEmpty();
      case Dict(Map<String, TemplateValue> entries) -> !entries.isEmpty();
      case Namespace _, Callable _ -> true;
    };
  }

  /** Python's {@code ==}: numbers and booleans compare by value. */
  default boolean same(TemplateValue other) {
    if (isNumber() && other.isNumber()) {
      return number() == other.number();
    }
    if (this instanceof Seq(var mine) && other instanceof Seq(var theirs)) {
      if (mine.size() != theirs.size()) {
        return false;
      }
      for (int i = 0; i < mine.size(); i++) {
        if (!mine.get(i).same(theirs.get(i))) {
          return false;
        }
      }
      return true;
    }
    if (this instanceof Undefined && other instanceof Undefined) {
      return true;
    }
    return equals(other);
  }

  /** Whether arithmetic accepts the value. */
  default boolean isNumber() {
    return this instanceof Int || this instanceof Real || this instanceof Bool;
  }

  default double number() {
    return switch (this) {
      case Int(long value) -> value;
      case Real(double value) -> value;
      case Bool(boolean value) -> value ? 1 : 0;
      default -> throw new TemplateException("%s is no number".formatted(repr()));
    };
  }

  default long integer() {
    return switch (this) {
      case Int(long value) -> value;
      case Bool(boolean value) -> value ? 1 : 0;
      default -> throw new TemplateException("%s is no whole number".formatted(repr()));
    };
  }

  /** Returns the text in the output: Python's {@code str}. */
  default String text() {
    return switch (this) {
      case Undefined _ -> "";
      case Text(String value) -> value;
      default -> repr();
    };
  }

  /** Python's {@code repr}. */
  default String repr() {
    return switch (this) {
      case Undefined(String what) -> "undefined " + what;
      case None() -> "None";
      case Bool(boolean value) -> value ? "True" : "False";
      case Int(long value) -> Long.toString(value);
      case Real(double value) -> Double.toString(value);
      case Text(String value) -> quoted(value);
      case Seq(List<TemplateValue> items) ->
          items.stream().map(TemplateValue::repr).collect(Collectors.joining(", ", "[", "]"));
      case Dict(Map<String, TemplateValue> entries) ->
          entries.entrySet().stream()
              .map(e -> quoted(e.getKey()) + ": " + e.getValue().repr())
              .collect(Collectors.joining(", ", "{", "}"));
      case Namespace _ -> "<Namespace>";
      case Callable(String name, _) -> "<function %s>".formatted(name);
    };
  }

  private static String quoted(String text) {
    char quote = text.contains("'") && !text.contains("\"") ? '"' : '\'';
    String escaped =
        text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r");
    return quote + (quote == '\'' ? escaped.replace("'", "\\'") : escaped) + quote;
  }

  /** Returns the values that a loop iterates over. */
  default List<TemplateValue> items() {
    return switch (this) {
      case Seq(List<TemplateValue> items) -> items;
      case Dict(Map<String, TemplateValue> entries) ->
          entries.keySet().stream().map(key -> (TemplateValue) new Text(key)).toList();
      case Text(String value) ->
          value
              .codePoints()
              .mapToObj(c -> (TemplateValue) new Text(Character.toString(c)))
              .toList();
      case Undefined _ -> List.of();
      default -> throw new TemplateException("%s cannot be looped over".formatted(repr()));
    };
  }
}
