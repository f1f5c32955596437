package io.troupe.chat.python;

import io.troupe.base.text.PythonNumber;
import io.troupe.base.text.PythonText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A value of a template, with Python's notions of truth and text. What Python prints with an
 * address of memory is refused as text.
 */
public sealed interface TemplateValue {
  /** The value of a missing name or attribute; a template may test and print it. */
  record Undefined(String what) implements TemplateValue {}

  /** Python's {@code None}. */
  record None() implements TemplateValue {
    public static final None NONE = new None();
  }

  /** Python's {@code bool}. */
  record Bool(boolean value) implements TemplateValue {
    public static final Bool TRUE = new Bool(true);
    public static final Bool FALSE = new Bool(false);
  }

  /** Python's {@code int}, of any size. */
  record Int(BigInteger value) implements TemplateValue {
    public static Int of(long value) {
      return new Int(BigInteger.valueOf(value));
    }
  }

  /** Python's {@code float}. */
  record Real(double value) implements TemplateValue {}

  /** Python's {@code str}. */
  record Text(String value) implements TemplateValue {}

  /** A text that is marked as safe; it can be printed, and no more. */
  record Markup(String value) implements TemplateValue {}

  /** Python's {@code list}. */
  record Seq(List<TemplateValue> items) implements TemplateValue {}

  /** Python's {@code tuple}. */
  record Tuple(List<TemplateValue> items) implements TemplateValue {
    public static Tuple of(TemplateValue... items) {
      return new Tuple(List.of(items));
    }
  }

  /** Python's {@code dict}, in the order of its entries. */
  record Dict(Map<TemplateValue, TemplateValue> entries) implements TemplateValue {
    /** Returns the value of a key; null if there is none. */
    public @Nullable TemplateValue get(TemplateValue key) {
      TemplateValue value = entries.get(key);
      if (value != null || !key.isNumber()) {
        return value;
      }
      return entries.entrySet().stream()
          .filter(entry -> PythonOperators.same(entry.getKey(), key))
          .findFirst()
          .map(Map.Entry::getValue)
          .orElse(null);
    }

    public @Nullable TemplateValue get(String key) {
      return entries.get(new Text(key));
    }
  }

  /**
   * What Python makes of a dictionary's parts, or of a range.
   *
   * @param type such as {@code dict_keys}
   * @param shown its text
   */
  record View(String type, List<TemplateValue> items, String shown) implements TemplateValue {
    static View of(String type, List<TemplateValue> items) {
      return new View(type, items, type + "(" + new Seq(items).repr() + ")");
    }
  }

  /** Values that can be looped over once, as those of a generator. */
  record Stream(Iterator<TemplateValue> left) implements TemplateValue {
    public static Stream of(List<TemplateValue> items) {
      return new Stream(items.iterator());
    }
  }

  /** The only value that a template may change from within a loop. */
  record Namespace(Map<String, TemplateValue> attributes) implements TemplateValue {}

  /** An object of the language, such as the one that knows the position in a loop. */
  record Special(String shown, Function<String, TemplateValue> attributes)
      implements TemplateValue {}

  /** A function, macro or bound method. */
  record Callable(String name, Body body) implements TemplateValue {
    /** The work of a function. */
    public interface Body {
      TemplateValue call(List<TemplateValue> positional, Map<String, TemplateValue> named);
    }
  }

  static TemplateValue of(boolean value) {
    return value ? Bool.TRUE : Bool.FALSE;
  }

  /**
   * A Java object as a value: null, booleans, numbers, strings, lists and maps. A decimal is a
   * float, as for Python's {@code json.loads}.
   *
   * @throws TemplateException if the object is of another class
   */
  static TemplateValue of(@Nullable Object object) {
    return switch (object) {
      case null -> None.NONE;
      case TemplateValue value -> value;
      case Boolean bool -> of(bool.booleanValue());
      case BigInteger number -> new Int(number);
      case Integer number -> Int.of(number);
      case Long number -> Int.of(number);
      case Short number -> Int.of(number);
      case Byte number -> Int.of(number);
      case Float number -> new Real(Double.parseDouble(number.toString()));
      case Double number -> new Real(number);
      case BigDecimal number -> new Real(number.doubleValue());
      case String text -> new Text(text);
      case Iterable<?> items -> {
        List<TemplateValue> values = new ArrayList<>();
        items.forEach(item -> values.add(of(item)));
        yield new Seq(values);
      }
      case Map<?, ?> map -> {
        Map<TemplateValue, TemplateValue> values = new LinkedHashMap<>();
        map.forEach((key, value) -> values.put(of(key), of(value)));
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
      case Int(BigInteger value) -> value.signum() != 0;
      case Real(double value) -> value != 0;
      case Text(String value) -> !value.isEmpty();
      case Markup(String value) -> !value.isEmpty();
      case Seq(List<TemplateValue> items) -> !items.isEmpty();
      case Tuple(List<TemplateValue> items) -> !items.isEmpty();
      case View(_, List<TemplateValue> items, _) -> !items.isEmpty();
      case Dict(Map<TemplateValue, TemplateValue> entries) -> !entries.isEmpty();
      case Stream _, Namespace _, Special _, Callable _ -> true;
    };
  }

  /** Whether arithmetic accepts the value. */
  default boolean isNumber() {
    return this instanceof Int || this instanceof Real || this instanceof Bool;
  }

  /** Whether the value is an {@code int}, which Python's booleans are. */
  default boolean isWhole() {
    return this instanceof Int || this instanceof Bool;
  }

  default double number() {
    return switch (this) {
      case Int(BigInteger value) -> {
        double number = value.doubleValue();
        if (Double.isInfinite(number)) {
          throw new TemplateException("%s is too large for a float".formatted(shortened()));
        }
        yield number;
      }
      case Real(double value) -> value;
      case Bool(boolean value) -> value ? 1 : 0;
      default -> throw new TemplateException("%s is no number".formatted(shortened()));
    };
  }

  default BigInteger whole() {
    return switch (this) {
      case Int(BigInteger value) -> value;
      case Bool(boolean value) -> value ? BigInteger.ONE : BigInteger.ZERO;
      default -> throw new TemplateException("%s is no whole number".formatted(shortened()));
    };
  }

  /** A whole number for a place or a count. */
  default int index() {
    return whole()
        .max(BigInteger.valueOf(-Integer.MAX_VALUE))
        .min(BigInteger.valueOf(Integer.MAX_VALUE))
        .intValue();
  }

  /** A whole number of characters, within what a template may write. */
  default int width() {
    int width = index();
    if (width > 100_000) {
      throw new TemplateException("%s characters are too many".formatted(shortened()));
    }
    return width;
  }

  /** The value of a string. */
  default String string() {
    if (this instanceof Text(String value)) {
      return value;
    }
    throw new TemplateException("%s is no text".formatted(shortened()));
  }

  /** Returns the text in the output: Python's {@code str}. */
  default String text() {
    return switch (this) {
      case Undefined _ -> "";
      case Text(String value) -> value;
      case Markup(String value) -> value;
      default -> repr();
    };
  }

  /** Python's {@code repr}. */
  default String repr() {
    return switch (this) {
      case Undefined _ -> "Undefined";
      case None() -> "None";
      case Bool(boolean value) -> value ? "True" : "False";
      case Int(BigInteger value) -> value.toString();
      case Real(double value) -> PythonNumber.repr(value);
      case Text(String value) -> PythonText.repr(value);
      case Markup(String value) -> "Markup(" + PythonText.repr(value) + ")";
      case Seq(List<TemplateValue> items) -> "[" + listed(items) + "]";
      case Tuple(List<TemplateValue> items) ->
          "(" + listed(items) + (items.size() == 1 ? ",)" : ")");
      case View(_, _, String shown) -> shown;
      case Dict(Map<TemplateValue, TemplateValue> entries) -> listed(entries);
      case Namespace(Map<String, TemplateValue> attributes) -> {
        Map<TemplateValue, TemplateValue> entries = new LinkedHashMap<>();
        attributes.forEach((name, value) -> entries.put(new Text(name), value));
        yield "<Namespace " + listed(entries) + ">";
      }
      case Special(String shown, _) -> shown;
      case Stream _ ->
          throw new TemplateException("a generator has no text of its own; put '| list' behind it");
      case Callable(String name, _) ->
          throw new TemplateException("the function '%s' has no text of its own".formatted(name));
    };
  }

  private static String listed(List<TemplateValue> items) {
    return items.stream().map(TemplateValue::repr).collect(Collectors.joining(", "));
  }

  private static String listed(Map<TemplateValue, TemplateValue> entries) {
    return entries.entrySet().stream()
        .map(entry -> entry.getKey().repr() + ": " + entry.getValue().repr())
        .collect(Collectors.joining(", ", "{", "}"));
  }

  /** A text for messages: what the value is, in a few characters. */
  default String shortened() {
    String shown =
        switch (this) {
          case Undefined(String what) -> "undefined " + what;
          case Stream _ -> "a generator";
          case Callable(String name, _) -> "the function '%s'".formatted(name);
          default -> repr();
        };
    return shown.length() <= 60 ? shown : shown.substring(0, 59) + "…";
  }

  /** Returns the values that a loop iterates over; those of a generator are used up. */
  default List<TemplateValue> items() {
    return switch (this) {
      case Seq(List<TemplateValue> items) -> items;
      case Tuple(List<TemplateValue> items) -> items;
      case View(_, List<TemplateValue> items, _) -> items;
      case Dict(Map<TemplateValue, TemplateValue> entries) -> List.copyOf(entries.keySet());
      case Text(String value) -> characters(value);
      case Markup(String value) -> characters(value);
      case Undefined _ -> List.of();
      case Stream(Iterator<TemplateValue> left) -> {
        List<TemplateValue> items = new ArrayList<>();
        left.forEachRemaining(items::add);
        yield items;
      }
      default -> throw new TemplateException("%s cannot be looped over".formatted(shortened()));
    };
  }

  private static List<TemplateValue> characters(String text) {
    return text.codePoints()
        .mapToObj(c -> (TemplateValue) new Text(Character.toString(c)))
        .toList();
  }

  /** Python's {@code len}. */
  default int length() {
    return switch (this) {
      case Text(String value) -> PythonText.length(value);
      case Markup(String value) -> PythonText.length(value);
      case Seq _, Tuple _, View _, Dict _, Undefined _ -> items().size();
      default -> throw new TemplateException("%s has no length".formatted(shortened()));
    };
  }
}
