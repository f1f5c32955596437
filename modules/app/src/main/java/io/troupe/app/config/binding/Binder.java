package io.troupe.app.config.binding;

import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Makes records of a tree. It never stops at a violation: a wrong value is replaced by a
 * placeholder so that everything after it is still checked, and the placeholders are never seen,
 * because a configuration with violations is refused as a whole.
 */
final class Binder {
  /**
   * A value and the tree that says the same with every default filled in.
   *
   * @param value absent only when a record's own constructor refused its values
   */
  record Bound(Optional<Object> value, Tree tree) {}

  private static final int OWNERS_SHOWN = 3;
  private static final Origin DEFAULT = new Origin.Default();

  private final Schema.Section root;
  private final Findings findings;

  Binder(Schema.Section root, Findings findings) {
    this.root = root;
    this.findings = findings;
  }

  Bound bind(Tree.Mapping tree) {
    return section(root, tree, "", List.of());
  }

  private Bound section(
      Schema.Section section, Tree.Mapping mapping, String path, List<Tree.Entry> chosenBy) {
    refuseUnknown(mapping, path, names(section, chosenBy));
    List<Object> values = new ArrayList<>();
    List<Tree.Entry> resolved = new ArrayList<>(chosenBy);
    for (Schema.Key key : section.keys()) {
      String at = Schema.join(path, key.name());
      Tree.Entry entry = mapping.entry(key.name()).orElseGet(() -> absent(key, at));
      findings.locate(at, entry);
      Bound bound = value(key, key.schema(), entry.value(), at, entry.origin());
      bound.value().ifPresent(values::add);
      resolved.add(new Tree.Entry(key.name(), entry.origin(), bound.tree()));
    }
    Tree.Mapping full = new Tree.Mapping(resolved, mapping.origin());
    return new Bound(create(section, values, path), full);
  }

  private Tree.Entry absent(Schema.Key key, String at) {
    if (key.required()) {
      findings.add(
          new Violation(
              findings.place(at), at, "is required", "nothing", "add it: " + key.range()));
    }
    Tree value =
        switch (key.schema()) {
          case Schema.Value _ -> new Tree.Scalar(key.defaultText(), true, DEFAULT);
          case Schema.Row _ -> new Tree.Sequence(List.of(), DEFAULT);
          case Schema.Section _, Schema.Choice _ -> new Tree.Mapping(List.of(), DEFAULT);
        };
    return new Tree.Entry(key.name(), DEFAULT, value);
  }

  private Bound value(Schema.Key key, Schema schema, Tree tree, String at, Origin origin) {
    return switch (schema) {
      case Schema.Value value -> scalar(key, value, tree, at, origin);
      case Schema.Row(Schema item) -> row(key, item, tree, at, origin);
      case Schema.Section section -> section(section, mapping(tree, at, origin), at, List.of());
      case Schema.Choice choice -> choice(choice, mapping(tree, at, origin), at);
    };
  }

  private Tree.Mapping mapping(Tree tree, String at, Origin origin) {
    return switch (tree) {
      case Tree.Mapping mapping -> mapping;
      case Tree.Scalar scalar when scalar.isNothing() -> new Tree.Mapping(List.of(), origin);
      case Tree.Scalar _, Tree.Sequence _ -> {
        findings.add(
            new Violation(origin, at, "must be a section", tree.describe(), "write keys below it"));
        yield new Tree.Mapping(List.of(), origin);
      }
    };
  }

  private Bound row(Schema.Key key, Schema item, Tree tree, String at, Origin origin) {
    if (!(tree instanceof Tree.Sequence(List<Tree> items, Origin where))) {
      findings.add(
          new Violation(
              origin, at, "must be " + key.range(), tree.describe(), "write it as [a, b]"));
      return new Bound(Optional.of(List.of()), tree);
    }
    refuseOutOfBounds(key, items.size(), at, origin, items.size() + " items");
    List<Object> values = new ArrayList<>();
    List<Tree> trees = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      Tree each = items.get(i);
      String place = at + "[" + i + "]";
      findings.locate(place, new Tree.Entry(place, each.origin(), each));
      Bound bound = value(key, item, each, place, each.origin());
      bound.value().ifPresent(values::add);
      trees.add(bound.tree());
    }
    return new Bound(Optional.of(List.copyOf(values)), new Tree.Sequence(trees, where));
  }

  private Bound scalar(Schema.Key key, Schema.Value schema, Tree tree, String at, Origin origin) {
    ScalarType type = schema.type();
    Optional<Object> parsed =
        tree instanceof Tree.Scalar scalar
                && !scalar.isNothing()
                && (scalar.plain() || type.quotable())
            ? type.parse().apply(scalar.text())
            : Optional.empty();
    if (schema.blank() && tree instanceof Tree.Scalar empty && empty.text().isEmpty()) {
      return new Bound(Optional.of(type.placeholder()), new Tree.Scalar("", false, origin));
    }
    if (parsed.isEmpty()) {
      boolean reported = origin instanceof Origin.Default && key.required();
      if (!reported) {
        findings.add(
            new Violation(
                origin, at, "must be " + type.expectation(), tree.describe(), instead(key)));
      }
      return new Bound(Optional.of(type.placeholder()), tree);
    }
    Object value = parsed.get();
    if (schema.relativeToFile()) {
      value = resolved(value, origin);
    }
    if (!(key.schema() instanceof Schema.Row)) {
      refuseOutOfBounds(key, type.measure().applyAsDouble(value), at, origin, tree.describe());
    }
    Tree canonical = new Tree.Scalar(type.render().apply(value), !type.quotable(), origin);
    return new Bound(Optional.of(value), canonical);
  }

  /** A path, or a text that is one and no address such as {@code s3://bucket/key}. */
  private static Object resolved(Object value, Origin origin) {
    return switch (value) {
      case Path path -> resolve(path, origin);
      case String text when !text.contains("://") -> resolve(Path.of(text), origin).toString();
      default -> value;
    };
  }

  private static Path resolve(Path path, Origin origin) {
    Path folder =
        origin instanceof Origin.Line(Path file, _)
            ? file.toAbsolutePath().resolveSibling("")
            : Path.of("").toAbsolutePath();
    return folder.resolve(path).normalize();
  }

  private void refuseOutOfBounds(
      Schema.Key key, double measure, String at, Origin origin, String given) {
    if (!key.bounds().allows(measure)) {
      findings.add(new Violation(origin, at, "must be " + key.range(), given, instead(key)));
    }
  }

  private static String instead(Schema.Key key) {
    return key.required() || key.defaultText().isEmpty()
        ? "change it"
        : "change it, or remove it for the default, " + key.defaultText();
  }

  private Bound choice(Schema.Choice choice, Tree.Mapping mapping, String path) {
    String at = Schema.join(path, choice.key());
    Optional<Tree.Entry> given = mapping.entry(choice.key());
    Tree.Entry entry =
        given.orElseGet(
            () ->
                new Tree.Entry(
                    choice.key(), DEFAULT, new Tree.Scalar(choice.defaultsTo(), true, DEFAULT)));
    findings.locate(at, entry);
    Optional<Schema.Alternative> chosen =
        entry.value() instanceof Tree.Scalar scalar
            ? choice.alternative(scalar.text())
            : Optional.empty();
    String names = String.join(", ", choice.names());
    if (chosen.isEmpty()) {
      String rule = given.isEmpty() ? "is required" : "must be one of " + names;
      findings.add(
          new Violation(
              findings.place(at), at, rule, entry.value().describe(), "choose from " + names));
      return new Bound(Optional.empty(), mapping);
    }
    Schema.Section section = chosen.get().section();
    Set<String> foreign =
        choice.alternatives().stream()
            .flatMap(each -> each.section().keys().stream())
            .map(Schema.Key::name)
            .filter(name -> section.key(name).isEmpty())
            .collect(Collectors.toSet());
    refuseForeign(choice, chosen.get(), mapping, path, foreign);
    List<Tree.Entry> own =
        mapping.entries().stream().filter(each -> !foreign.contains(each.key())).toList();
    return section(section, new Tree.Mapping(own, mapping.origin()), path, List.of(entry));
  }

  private void refuseForeign(
      Schema.Choice choice,
      Schema.Alternative chosen,
      Tree.Mapping mapping,
      String path,
      Set<String> foreign) {
    for (Tree.Entry entry : mapping.entries()) {
      if (foreign.contains(entry.key())) {
        List<String> of =
            choice.alternatives().stream()
                .filter(each -> each.section().key(entry.key()).isPresent())
                .map(Schema.Alternative::name)
                .toList();
        String owners =
            of.size() <= OWNERS_SHOWN
                ? String.join(" or ", of)
                : of.getFirst() + " or %d others".formatted(of.size() - 1);
        findings.add(
            new Violation(
                entry.origin(),
                Schema.join(path, entry.key()),
                "belongs to %s: %s, and %s was chosen"
                    .formatted(choice.key(), owners, chosen.name()),
                entry.value().describe(),
                "remove it, or set %s to %s".formatted(choice.key(), String.join(" or ", of))));
      }
    }
  }

  private static List<String> names(Schema.Section section, List<Tree.Entry> chosenBy) {
    List<String> names = new ArrayList<>(chosenBy.stream().map(Tree.Entry::key).toList());
    section.keys().forEach(key -> names.add(key.name()));
    return names;
  }

  private void refuseUnknown(Tree.Mapping mapping, String path, List<String> known) {
    for (Tree.Entry entry : mapping.entries()) {
      if (!known.contains(entry.key())) {
        String place = path.isEmpty() ? "the configuration" : path;
        findings.add(
            new Violation(
                entry.origin(),
                Schema.join(path, entry.key()),
                "is not a key of " + place,
                entry.value().describe(),
                Suggestions.advice(entry.key(), path, known, root)));
      }
    }
  }

  private Optional<Object> create(Schema.Section section, List<Object> values, String path) {
    if (values.size() < section.keys().size()) {
      return Optional.empty();
    }
    try {
      Rules rules = new Rules(path, findings);
      return Optional.of(
          section.create(
              values,
              made -> {
                if (made instanceof Checked checked) {
                  checked.check(rules);
                }
              }));
    } catch (InvocationTargetException e) {
      if (!(e.getCause() instanceof IllegalArgumentException refusal)) {
        throw new IllegalStateException(section.type() + " cannot be made", e);
      }
      if (findings.isSound(path)) {
        findings.add(
            new Violation(
                findings.place(path),
                path,
                String.valueOf(refusal.getMessage()),
                "these values",
                "change one of them"));
      }
      return Optional.empty();
    }
  }
}
