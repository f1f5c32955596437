package io.troupe.config.binding;

import io.troupe.config.schema.ScalarType;
import io.troupe.config.schema.Schema;
import io.troupe.config.schema.Suggestions;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
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
  record Bound(Optional<Object> value, ConfigTree tree) {}

  /** Owner and name, and a revision if it is not the main one. */
  private static final Pattern REPOSITORY =
      Pattern.compile("[A-Za-z0-9][\\w.-]*/[A-Za-z0-9][\\w.-]*(@[\\w./-]+)?");

  private static final int OWNERS_SHOWN = 3;
  private static final ValueOrigin DEFAULT = new ValueOrigin.Default();

  private final Schema.Section root;
  private final ViolationLog findings;

  Binder(Schema.Section root, ViolationLog findings) {
    this.root = root;
    this.findings = findings;
  }

  Bound bind(ConfigTree.Mapping tree) {
    return section(root, tree, "", List.of());
  }

  private Bound section(
      Schema.Section section,
      ConfigTree.Mapping mapping,
      String path,
      List<ConfigTree.Entry> chosenBy) {
    refuseUnknown(mapping, path, names(section, chosenBy));
    List<Object> values = new ArrayList<>();
    List<ConfigTree.Entry> resolved = new ArrayList<>(chosenBy);
    for (Schema.Key key : section.keys()) {
      String at = Schema.join(path, key.name());
      ConfigTree.Entry entry = mapping.entry(key.name()).orElseGet(() -> absent(key, at));
      findings.locate(at, entry);
      Bound bound = value(key, key.schema(), entry.value(), at, entry.origin());
      bound.value().ifPresent(values::add);
      resolved.add(new ConfigTree.Entry(key.name(), entry.origin(), bound.tree()));
    }
    ConfigTree.Mapping full = new ConfigTree.Mapping(resolved, mapping.origin());
    return new Bound(create(section, values, path), full);
  }

  private ConfigTree.Entry absent(Schema.Key key, String at) {
    if (key.required()) {
      findings.add(
          new ConfigViolation(
              findings.place(at), at, "is required", "nothing", "add it: " + key.range()));
    }
    ConfigTree value =
        switch (key.schema()) {
          case Schema.Value _ -> new ConfigTree.Scalar(key.defaultText(), true, DEFAULT);
          case Schema.Row _ -> new ConfigTree.Sequence(List.of(), DEFAULT);
          case Schema.Section _, Schema.Choice _ -> new ConfigTree.Mapping(List.of(), DEFAULT);
        };
    return new ConfigTree.Entry(key.name(), DEFAULT, value);
  }

  private Bound value(
      Schema.Key key, Schema schema, ConfigTree tree, String at, ValueOrigin origin) {
    return switch (schema) {
      case Schema.Value value -> scalar(key, value, tree, at, origin);
      case Schema.Row(Schema item) -> row(key, item, tree, at, origin);
      case Schema.Section section -> section(section, mapping(tree, at, origin), at, List.of());
      case Schema.Choice choice -> choice(choice, mapping(tree, at, origin), at);
    };
  }

  private ConfigTree.Mapping mapping(ConfigTree tree, String at, ValueOrigin origin) {
    return switch (tree) {
      case ConfigTree.Mapping mapping -> mapping;
      case ConfigTree.Scalar scalar when scalar.isNothing() ->
          new ConfigTree.Mapping(List.of(), origin);
      case ConfigTree.Scalar _, ConfigTree.Sequence _ -> {
        findings.add(
            new ConfigViolation(
                origin, at, "must be a section", tree.describe(), "write keys below it"));
        yield new ConfigTree.Mapping(List.of(), origin);
      }
    };
  }

  private Bound row(Schema.Key key, Schema item, ConfigTree tree, String at, ValueOrigin origin) {
    if (!(tree instanceof ConfigTree.Sequence(List<ConfigTree> items, ValueOrigin where))) {
      findings.add(
          new ConfigViolation(
              origin, at, "must be " + key.range(), tree.describe(), "write it as [a, b]"));
      return new Bound(Optional.of(List.of()), tree);
    }
    refuseOutOfBounds(key, items.size(), at, origin, items.size() + " items");
    List<Object> values = new ArrayList<>();
    List<ConfigTree> trees = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      ConfigTree each = items.get(i);
      String place = at + "[" + i + "]";
      findings.locate(place, new ConfigTree.Entry(place, each.origin(), each));
      Bound bound = value(key, item, each, place, each.origin());
      bound.value().ifPresent(values::add);
      trees.add(bound.tree());
    }
    return new Bound(Optional.of(List.copyOf(values)), new ConfigTree.Sequence(trees, where));
  }

  private Bound scalar(
      Schema.Key key, Schema.Value schema, ConfigTree tree, String at, ValueOrigin origin) {
    ScalarType type = schema.type();
    Optional<Object> parsed =
        tree instanceof ConfigTree.Scalar scalar
                && !scalar.isNothing()
                && (scalar.plain() || type.quotable())
            ? type.parse().apply(scalar.text())
            : Optional.empty();
    if (schema.blank() && tree instanceof ConfigTree.Scalar empty && empty.text().isEmpty()) {
      return new Bound(Optional.of(type.placeholder()), new ConfigTree.Scalar("", false, origin));
    }
    if (parsed.isEmpty()) {
      boolean reported = origin instanceof ValueOrigin.Default && key.required();
      if (!reported) {
        findings.add(
            new ConfigViolation(
                origin, at, "must be " + type.expectation(), tree.describe(), instead(key)));
      }
      return new Bound(Optional.of(type.placeholder()), tree);
    }
    Object value = parsed.get();
    value = resolved(value, origin, schema.path());
    if (!(key.schema() instanceof Schema.Row)) {
      refuseOutOfBounds(key, type.measure().applyAsDouble(value), at, origin, tree.describe());
    }
    ConfigTree canonical =
        new ConfigTree.Scalar(type.render().apply(value), !type.quotable(), origin);
    return new Bound(Optional.of(value), canonical);
  }

  /** A path, or a text that is one and no address such as {@code s3://bucket/key}. */
  private static Object resolved(Object value, ValueOrigin origin, Schema.PathRule rule) {
    return switch (value) {
      case Object other when rule == Schema.PathRule.NONE -> other;
      case Path path -> resolve(path, origin);
      case String text when !text.contains("://") -> {
        Path path = resolve(Path.of(text), origin);
        boolean repository =
            rule == Schema.PathRule.RELATIVE_OR_REPOSITORY
                && REPOSITORY.matcher(text).matches()
                && !Files.exists(path);
        yield repository ? text : path.toString();
      }
      default -> value;
    };
  }

  private static Path resolve(Path path, ValueOrigin origin) {
    Path folder =
        origin instanceof ValueOrigin.Line(Path file, _)
            ? file.toAbsolutePath().resolveSibling("")
            : Path.of("").toAbsolutePath();
    return folder.resolve(path).normalize();
  }

  private void refuseOutOfBounds(
      Schema.Key key, double measure, String at, ValueOrigin origin, String given) {
    if (!key.bounds().allows(measure)) {
      findings.add(new ConfigViolation(origin, at, "must be " + key.range(), given, instead(key)));
    }
  }

  private static String instead(Schema.Key key) {
    return key.required() || key.defaultText().isEmpty()
        ? "change it"
        : "change it, or remove it for the default, " + key.defaultText();
  }

  private Bound choice(Schema.Choice choice, ConfigTree.Mapping mapping, String path) {
    String at = Schema.join(path, choice.key());
    Optional<ConfigTree.Entry> given = mapping.entry(choice.key());
    ConfigTree.Entry entry =
        given.orElseGet(
            () ->
                new ConfigTree.Entry(
                    choice.key(),
                    DEFAULT,
                    new ConfigTree.Scalar(choice.defaultsTo(), true, DEFAULT)));
    findings.locate(at, entry);
    Optional<Schema.Alternative> chosen =
        entry.value() instanceof ConfigTree.Scalar scalar
            ? choice.alternative(scalar.text())
            : Optional.empty();
    String names = String.join(", ", choice.names());
    if (chosen.isEmpty()) {
      String rule = given.isEmpty() ? "is required" : "must be one of " + names;
      findings.add(
          new ConfigViolation(
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
    List<ConfigTree.Entry> own =
        mapping.entries().stream().filter(each -> !foreign.contains(each.key())).toList();
    return section(section, new ConfigTree.Mapping(own, mapping.origin()), path, List.of(entry));
  }

  private void refuseForeign(
      Schema.Choice choice,
      Schema.Alternative chosen,
      ConfigTree.Mapping mapping,
      String path,
      Set<String> foreign) {
    for (ConfigTree.Entry entry : mapping.entries()) {
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
            new ConfigViolation(
                entry.origin(),
                Schema.join(path, entry.key()),
                "belongs to %s: %s, and %s was chosen"
                    .formatted(choice.key(), owners, chosen.name()),
                entry.value().describe(),
                "remove it, or set %s to %s".formatted(choice.key(), String.join(" or ", of))));
      }
    }
  }

  private static List<String> names(Schema.Section section, List<ConfigTree.Entry> chosenBy) {
    List<String> names = new ArrayList<>(chosenBy.stream().map(ConfigTree.Entry::key).toList());
    section.keys().forEach(key -> names.add(key.name()));
    return names;
  }

  private void refuseUnknown(ConfigTree.Mapping mapping, String path, List<String> known) {
    for (ConfigTree.Entry entry : mapping.entries()) {
      if (!known.contains(entry.key())) {
        String place = path.isEmpty() ? "the configuration" : path;
        findings.add(
            new ConfigViolation(
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
      RuleChecker rules = new RuleChecker(path, findings);
      return Optional.of(
          section.create(
              values,
              made -> {
                if (made instanceof Validated checked) {
                  checked.check(rules);
                }
              }));
    } catch (InvocationTargetException e) {
      if (!(e.getCause() instanceof IllegalArgumentException refusal)) {
        throw new IllegalStateException(section.type() + " cannot be made", e);
      }
      if (findings.hasNoViolation(path)) {
        findings.add(
            new ConfigViolation(
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
