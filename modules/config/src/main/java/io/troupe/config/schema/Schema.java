package io.troupe.config.schema;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The keys that a configuration may hold, read off a record: its components are the keys, in snake
 * case, nested records are sections, and sealed interfaces with {@link Variant} are sections of
 * which one key chooses the rest. The binder, the documentation and the suggestions all use the
 * schema.
 */
public sealed interface Schema {
  /**
   * A section: a record.
   *
   * @param type the record's class
   * @param parts components of the record, in order
   */
  record Section(Class<?> type, List<Part> parts) implements Schema {
    public Section {
      parts = List.copyOf(parts);
    }

    /** Returns the section's keys, those of {@link Inline} records among them. */
    public List<Key> keys() {
      return parts.stream().flatMap(part -> part.keys().stream()).toList();
    }

    public Optional<Key> key(String name) {
      return keys().stream().filter(key -> key.name().equals(name)).findFirst();
    }

    /**
     * A new record of {@code values}, in the order of the keys.
     *
     * @param made takes each record once it is made, those within first
     */
    public Object create(List<Object> values, Consumer<Object> made)
        throws InvocationTargetException {
      List<Object> components = new ArrayList<>();
      int from = 0;
      for (Part part : parts) {
        int to = from + part.keys().size();
        components.add(
            switch (part) {
              case Key _ -> values.get(from);
              case Group(Section section) -> section.create(values.subList(from, to), made);
            });
        from = to;
      }
      Object record = construct(components);
      made.accept(record);
      return record;
    }

    private Object construct(List<Object> components) throws InvocationTargetException {
      try {
        Class<?>[] types =
            Arrays.stream(type.getRecordComponents())
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new);
        Constructor<?> constructor = type.getDeclaredConstructor(types);
        constructor.setAccessible(true);
        return constructor.newInstance(components.toArray());
      } catch (NoSuchMethodException | InstantiationException | IllegalAccessException e) {
        throw new IllegalStateException(type + " is not a record of settings", e);
      }
    }
  }

  /** A component of a record. */
  sealed interface Part {
    /** The keys it brings. */
    List<Key> keys();
  }

  /** A record that is {@link Inline}. */
  record Group(Section section) implements Part {
    @Override
    public List<Key> keys() {
      return section.keys();
    }
  }

  /**
   * A section whose keys depend on one of them.
   *
   * @param key that chooses
   * @param defaultsTo name of the alternative taken without it; empty if the key is required
   * @param meaning of the choice
   */
  record Choice(String key, String defaultsTo, String meaning, List<Alternative> alternatives)
      implements Schema {
    public Choice {
      alternatives = List.copyOf(alternatives);
    }

    public Optional<Alternative> alternative(String name) {
      return alternatives.stream().filter(each -> each.name().equals(name)).findFirst();
    }

    /** Names of the alternatives, in the order of the sealed interface. */
    public List<String> names() {
      return alternatives.stream().map(Alternative::name).toList();
    }
  }

  /** One of the records of a {@link Choice}. */
  record Alternative(String name, String meaning, Section section) {}

  /** Several values in a row. */
  record Row(Schema item) implements Schema {}

  /**
   * One value.
   *
   * @param path rule for a path in the value
   * @param blank whether it may be left empty, which its default then is
   */
  record Value(ScalarType type, PathRule path, boolean blank) implements Schema {}

  /** The rule for a text that may be a path. */
  enum PathRule {
    /** The value is no path. */
    NONE,
    /** See {@link RelativeToFile}. */
    RELATIVE,
    /** See {@link RelativeToFile#orRepository}. */
    RELATIVE_OR_REPOSITORY;

    private static PathRule of(RecordComponent component) {
      RelativeToFile relative = component.getAnnotation(RelativeToFile.class);
      if (relative == null) {
        return NONE;
      }
      return relative.orRepository() ? RELATIVE_OR_REPOSITORY : RELATIVE;
    }
  }

  /**
   * A component of a record that is a key.
   *
   * @param name in snake case
   * @param meaning for the person who sets it
   * @param unit of its number; may be empty
   * @param required whether the file must give it; sections never are
   * @param defaultText value without the key, where the key is not required
   */
  record Key(
      String name,
      Schema schema,
      String meaning,
      String unit,
      boolean required,
      String defaultText,
      Bounds bounds)
      implements Part {
    @Override
    public List<Key> keys() {
      return List.of(this);
    }

    /** Returns the values that the key allows, in words; empty when its type says it all. */
    public String range() {
      return switch (schema) {
        case Value(ScalarType type, _, _) -> {
          String numbers = bounds.describe(type.rangeUnit());
          yield numbers.isEmpty() ? type.expectation() : numbers;
        }
        case Row(Value(ScalarType type, _, _)) -> "a list of " + type.expectation();
        case Row _ -> "a list of sections";
        case Section _, Choice _ -> "a section";
      };
    }
  }

  /** The schema of a record, read from its class once. */
  static Section of(Class<?> type) {
    return Sections.BY_CLASS.get(type);
  }

  /** The schemas that were asked for. */
  final class Sections {
    private static final ClassValue<Section> BY_CLASS =
        new ClassValue<>() {
          @Override
          protected Section computeValue(Class<?> type) {
            return read(type);
          }
        };

    private Sections() {}
  }

  private static Section read(Class<?> type) {
    List<Part> parts = new ArrayList<>();
    for (RecordComponent component : type.getRecordComponents()) {
      parts.add(
          component.isAnnotationPresent(Inline.class)
              ? new Group(of(component.getType()))
              : key(component));
    }
    return new Section(type, parts);
  }

  private static Key key(RecordComponent component) {
    Doc doc = component.getAnnotation(Doc.class);
    Default defaults = component.getAnnotation(Default.class);
    Range range = component.getAnnotation(Range.class);
    if (doc == null) {
      throw new IllegalStateException(
          component + " has no @Doc, so the configuration page has no text for it");
    }
    Schema schema = schema(component);
    return new Key(
        snakeCase(component.getName()),
        schema,
        doc.value(),
        doc.unit(),
        defaults == null && schema instanceof Value,
        defaults == null ? "" : defaults.value(),
        range == null ? Bounds.NONE : Bounds.of(range));
  }

  private static Schema schema(RecordComponent component) {
    Class<?> type = component.getType();
    if (type == List.class
        && component.getGenericType() instanceof ParameterizedType list
        && list.getActualTypeArguments()[0] instanceof Class<?> item) {
      return new Row(schema(item, component));
    }
    return schema(type, component);
  }

  private static Schema schema(Class<?> type, RecordComponent component) {
    Variant variant = type.getAnnotation(Variant.class);
    if (variant != null) {
      List<Alternative> alternatives = new ArrayList<>();
      for (Class<?> each : records(type)) {
        Doc doc = each.getAnnotation(Doc.class);
        if (doc == null) {
          throw new IllegalStateException(
              each + " has no @Doc, so the configuration page has no text for it");
        }
        alternatives.add(new Alternative(alternativeName(each), doc.value(), of(each)));
      }
      return new Choice(variant.key(), variant.defaultsTo(), variant.meaning(), alternatives);
    }
    if (type.isRecord()) {
      return of(type);
    }
    Default defaults = component.getAnnotation(Default.class);
    return new Value(
        component.isAnnotationPresent(Blanks.class) ? ScalarType.blanks() : ScalarType.of(type),
        PathRule.of(component),
        defaults != null && defaults.value().isEmpty());
  }

  /** The records of a sealed interface, also of sealed interfaces within it. */
  private static List<Class<?>> records(Class<?> type) {
    List<Class<?>> records = new ArrayList<>();
    for (Class<?> each : type.getPermittedSubclasses()) {
      if (each.isRecord()) {
        records.add(each);
      } else {
        records.addAll(records(each));
      }
    }
    return records;
  }

  /** The name that chooses a record of a {@link Variant}. */
  static String alternativeName(Class<?> type) {
    return snakeCase(type.getSimpleName());
  }

  /** Joins a section's path and a key. */
  static String join(String path, String key) {
    return path.isEmpty() ? key : path + "." + key;
  }

  private static String snakeCase(String name) {
    return name.replaceAll("(?<!^)([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }
}
