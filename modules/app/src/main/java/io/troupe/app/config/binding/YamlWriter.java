package io.troupe.app.config.binding;

import java.util.stream.Collectors;

/** Writes a resolved tree as YAML, each value with its origin behind it as a comment. */
final class YamlWriter {
  private final StringBuilder text = new StringBuilder();

  private YamlWriter() {}

  static String write(Tree.Mapping root) {
    YamlWriter writer = new YamlWriter();
    writer.mapping(root, 0);
    return writer.text.toString();
  }

  private void mapping(Tree.Mapping mapping, int depth) {
    for (Tree.Entry entry : mapping.entries()) {
      text.repeat("  ", depth).append(entry.key()).append(':');
      if (entry.value() instanceof Tree.Mapping inner) {
        text.append('\n');
        mapping(inner, depth + 1);
      } else if (Resolved.holdsSections(entry.value())) {
        text.append('\n');
        sections((Tree.Sequence) entry.value(), depth + 1);
      } else {
        text.append(' ').append(inline(entry.value()));
        text.append("  # ").append(printable(entry.origin().toString())).append('\n');
      }
    }
  }

  private void sections(Tree.Sequence sequence, int depth) {
    for (Tree item : sequence.items()) {
      text.repeat("  ", depth).append("-\n");
      if (item instanceof Tree.Mapping mapping) {
        mapping(mapping, depth + 1);
      }
    }
  }

  static String inline(Tree tree) {
    return switch (tree) {
      case Tree.Scalar scalar -> scalar(scalar);
      case Tree.Sequence sequence ->
          sequence.items().stream()
              .map(YamlWriter::inline)
              .collect(Collectors.joining(", ", "[", "]"));
      case Tree.Mapping mapping ->
          mapping.entries().stream()
              .map(entry -> entry.key() + ": " + inline(entry.value()))
              .collect(Collectors.joining(", ", "{", "}"));
    };
  }

  private static String scalar(Tree.Scalar scalar) {
    boolean word =
        scalar.text().matches("[A-Za-z0-9_/][A-Za-z0-9_./-]*") && !scalar.text().equals("null");
    return word || scalar.plain() ? scalar.text() : quote(scalar.text());
  }

  private static String quote(String value) {
    StringBuilder quoted = new StringBuilder("\"");
    value
        .chars()
        .forEach(
            c -> {
              if (c == '"' || c == '\\') {
                quoted.append('\\').append((char) c);
              } else if (c < ' ' || c > '~') {
                quoted.append("\\u%04x".formatted(c));
              } else {
                quoted.append((char) c);
              }
            });
    return quoted.append('"').toString();
  }

  private static String printable(String comment) {
    return comment.replaceAll("\\p{Cntrl}", "?");
  }
}
