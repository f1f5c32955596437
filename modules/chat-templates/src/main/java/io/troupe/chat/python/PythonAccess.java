package io.troupe.chat.python;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Attributes, items and slices of values, as Jinja's sandbox finds them. */
public final class PythonAccess {
  private PythonAccess() {}

  /** {@code of.name}: an attribute takes precedence over an entry, as in Python. */
  public static TemplateValue attribute(TemplateValue of, String name) {
    return own(of, name)
        .orElseGet(
            () -> {
              TemplateValue entry = of instanceof TemplateValue.Dict dict ? dict.get(name) : null;
              return entry == null ? new TemplateValue.Undefined(name) : entry;
            });
  }

  /** {@code of[key]}: an entry takes precedence over an attribute. */
  public static TemplateValue item(TemplateValue of, TemplateValue key) {
    Optional<TemplateValue> found =
        switch (of) {
          case TemplateValue.Undefined(String what) ->
              throw new TemplateException(
                  "'%s' is undefined and has no item %s".formatted(what, key.shortened()));
          case TemplateValue.Dict dict -> Optional.ofNullable(dict.get(key));
          case TemplateValue.Seq _,
              TemplateValue.Tuple _,
              TemplateValue.Text _,
              TemplateValue.Markup _
              when key.isWhole() ->
              at(of.items(), key.index());
          case TemplateValue.View(String type, var items, _)
              when type.equals("range") && key.isWhole() ->
              at(items, key.index());
          default -> Optional.empty();
        };
    if (found.isPresent()) {
      return found.get();
    }
    String name = key instanceof TemplateValue.Text(String text) ? text : "item " + key.shortened();
    return key instanceof TemplateValue.Text
        ? own(of, name).orElse(new TemplateValue.Undefined(name))
        : new TemplateValue.Undefined(name);
  }

  private static Optional<TemplateValue> at(List<TemplateValue> items, int index) {
    long place = index < 0 ? (long) index + items.size() : index;
    return place >= 0 && place < items.size()
        ? Optional.of(items.get((int) place))
        : Optional.empty();
  }

  /** An attribute that Python's object has by its class. */
  private static Optional<TemplateValue> own(TemplateValue of, String name) {
    return switch (of) {
      case TemplateValue.Undefined(String what) ->
          throw new TemplateException("'%s' is undefined and has no '%s'".formatted(what, name));
      case TemplateValue.Namespace(var attributes) -> Optional.ofNullable(attributes.get(name));
      case TemplateValue.Special(_, var attributes) -> Optional.of(attributes.apply(name));
      case TemplateValue.Text(String text) -> TextMethods.of(text, name);
      case TemplateValue.Markup _ ->
          throw new TemplateException(
              "a text that is marked as safe has no '%s' here".formatted(name));
      default -> CollectionMethods.of(of, name);
    };
  }

  /** {@code of[from:to:step]}; a bound that is absent is None. */
  public static TemplateValue slice(
      TemplateValue of, TemplateValue from, TemplateValue to, TemplateValue step) {
    int stride = step instanceof TemplateValue.None ? 1 : step.index();
    if (stride == 0) {
      throw new TemplateException("a slice has no step of 0");
    }
    return switch (of) {
      case TemplateValue.Text _ -> {
        StringBuilder text = new StringBuilder();
        part(of.items(), from, to, stride).forEach(character -> text.append(character.text()));
        yield new TemplateValue.Text(text.toString());
      }
      case TemplateValue.Seq(var items) -> new TemplateValue.Seq(part(items, from, to, stride));
      case TemplateValue.Tuple(var items) -> new TemplateValue.Tuple(part(items, from, to, stride));
      default -> throw new TemplateException("%s has no slices".formatted(of.shortened()));
    };
  }

  private static List<TemplateValue> part(
      List<TemplateValue> items, TemplateValue from, TemplateValue to, int step) {
    int size = items.size();
    boolean backwards = step < 0;
    int start = bound(from, backwards ? size - 1 : 0, size, backwards);
    int end = bound(to, backwards ? -1 : size, size, backwards);
    List<TemplateValue> part = new ArrayList<>();
    for (long i = start; backwards ? i > end : i < end; i += step) {
      part.add(items.get((int) i));
    }
    return Collections.unmodifiableList(part);
  }

  private static int bound(TemplateValue given, int otherwise, int size, boolean backwards) {
    if (given instanceof TemplateValue.None) {
      return otherwise;
    }
    long place = given.index();
    long fromStart = place < 0 ? place + size : place;
    return backwards
        ? (int) Math.clamp(fromStart, -1L, size - 1L)
        : (int) Math.clamp(fromStart, 0L, (long) size);
  }

  /** The start and end of {@code text[from:to]} for a search, in code points. */
  static int clamped(TemplateValue given, int otherwise, int size) {
    return bound(given, otherwise, size, false);
  }
}
