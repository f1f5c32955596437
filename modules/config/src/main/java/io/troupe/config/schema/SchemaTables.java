package io.troupe.config.schema;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The documentation of a schema: one Markdown table a section, one row a key. The keys of a section
 * within a section follow its row.
 */
public final class SchemaTables {
  private static final String HEAD =
      "| key | unit | allowed | default | meaning |\n|---|---|---|---|---|\n";

  private final StringBuilder text = new StringBuilder();

  private SchemaTables() {}

  /** The tables of all sections of a record, in its order. */
  public static String markdown(Class<? extends Record> type) {
    SchemaTables tables = new SchemaTables();
    for (Schema.Key key : Schema.of(type).keys()) {
      tables.section(key);
    }
    return tables.text.toString();
  }

  /** The tables of some sections of a record, in its order. */
  public static String markdown(Class<? extends Record> type, Set<String> names) {
    SchemaTables tables = new SchemaTables();
    Schema.of(type).keys().stream()
        .filter(key -> names.contains(key.name()))
        .forEach(tables::section);
    return tables.text.toString();
  }

  private void section(Schema.Key key) {
    switch (key.schema()) {
      case Schema.Section section -> {
        heading(key);
        table(section, key.name());
      }
      case Schema.Choice choice -> {
        heading(key);
        text.append(HEAD);
        row(
            key.name() + "." + choice.key(),
            "",
            String.join(", ", choice.names()),
            choice.defaultsTo().isEmpty() ? "**required**" : "`" + choice.defaultsTo() + "`",
            choice.meaning());
        for (Schema.Alternative each : choice.alternatives()) {
          text.append("\n### `%s.%s: %s`\n\n".formatted(key.name(), choice.key(), each.name()));
          text.append(each.meaning()).append("\n\n");
          own(each.section(), key.name());
        }
        shared(key.name(), choice);
      }
      case Schema.Row(Schema.Section item) -> {
        heading(key);
        table(item, key.name() + "[]");
      }
      case Schema.Row _ -> {
        heading(key);
        text.append(HEAD);
        row(key.name(), key.unit(), key.range(), standard(key), key.meaning());
      }
      case Schema.Value _ -> {}
    }
  }

  /** The keys of an alternative that it does not share with others. */
  private void own(Schema.Section section, String path) {
    List<Schema.Key> keys =
        section.parts().stream()
            .filter(Schema.Key.class::isInstance)
            .map(Schema.Key.class::cast)
            .toList();
    if (!keys.isEmpty()) {
      text.append(HEAD);
      keys.forEach(key -> row(path, key));
    }
    String groups =
        groups(section).map(group -> "*" + title(group) + "*").collect(Collectors.joining(", "));
    if (!groups.isEmpty()) {
      text.append(keys.isEmpty() ? "Keys, below: " : "\nAnd, below: ").append(groups).append(".\n");
    }
  }

  /** The keys that alternatives share, once. */
  private void shared(String path, Schema.Choice choice) {
    choice.alternatives().stream()
        .flatMap(each -> groups(each.section()))
        .collect(
            Collectors.toMap(SchemaTables::title, group -> group, (a, _) -> a, LinkedHashMap::new))
        .values()
        .forEach(
            group -> {
              text.append("\n### ").append(title(group)).append("\n\n");
              table(group, path);
            });
  }

  private static Stream<Schema.Section> groups(Schema.Section section) {
    return section.parts().stream()
        .filter(Schema.Group.class::isInstance)
        .map(part -> ((Schema.Group) part).section());
  }

  /** Returns the title of a shared record, from its own {@link Doc}. */
  private static String title(Schema.Section group) {
    Doc doc = group.type().getAnnotation(Doc.class);
    return doc == null ? group.type().getSimpleName() : doc.value();
  }

  private void heading(Schema.Key key) {
    text.append("\n## `").append(key.name()).append("`\n\n").append(key.meaning()).append("\n\n");
  }

  private void table(Schema.Section section, String path) {
    text.append(HEAD);
    section.keys().forEach(key -> row(path, key));
  }

  private void row(String path, Schema.Key key) {
    row(
        path + "." + key.name(),
        key.unit(),
        key.range(),
        key.required() ? "**required**" : standard(key),
        key.meaning());
    switch (key.schema()) {
      case Schema.Section within -> within.keys().forEach(one -> row(path + "." + key.name(), one));
      case Schema.Row(Schema.Section item) ->
          item.keys().forEach(one -> row(path + "." + key.name() + "[]", one));
      case Schema.Row _, Schema.Choice _, Schema.Value _ -> {}
    }
  }

  private static String standard(Schema.Key key) {
    return key.defaultText().isEmpty() ? "" : "`" + key.defaultText() + "`";
  }

  private void row(String path, String unit, String allowed, String standard, String meaning) {
    text.append("| `%s` | %s | %s | %s | %s |\n".formatted(path, unit, allowed, standard, meaning));
  }
}
