package io.troupe.app.config.binding;

/** The documentation of a schema: one Markdown table a section, one row a key. */
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
          table(each.section(), key.name());
        }
      }
      case Schema.Value _, Schema.Row _ -> {}
    }
  }

  private void heading(Schema.Key key) {
    text.append("\n## `").append(key.name()).append("`\n\n").append(key.meaning()).append("\n\n");
  }

  private void table(Schema.Section section, String path) {
    text.append(HEAD);
    for (Schema.Key key : section.keys()) {
      row(
          path + "." + key.name(),
          key.unit(),
          key.range(),
          key.required() ? "**required**" : "`" + key.defaultText() + "`",
          key.meaning());
    }
  }

  private void row(String path, String unit, String allowed, String standard, String meaning) {
    text.append("| `%s` | %s | %s | %s | %s |\n".formatted(path, unit, allowed, standard, meaning));
  }
}
