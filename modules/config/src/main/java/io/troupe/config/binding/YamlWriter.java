package io.troupe.config.binding;

import java.util.stream.Collectors;

/** Writes a resolved tree as YAML, each value with its origin behind it as a comment. */
final class YamlWriter {
  private final StringBuilder text = new StringBuilder();

  private YamlWriter() {}

  static String write(ConfigTree.Mapping root) {
    YamlWriter writer = new YamlWriter();
    writer.mapping(root, 0);
    return writer.text.toString();
  }

  private void mapping(ConfigTree.Mapping mapping, int depth) {
    for (ConfigTree.Entry entry : mapping.entries()) {
      text.repeat("  ", depth).append(entry.key()).append(':');
      if (entry.value() instanceof ConfigTree.Mapping inner) {
        text.append('\n');
        mapping(inner, depth + 1);
      } else if (ResolvedConfig.holdsSections(entry.value())) {
        text.append('\n');
        sections((ConfigTree.Sequence) entry.value(), depth + 1);
      } else {
        text.append(' ').append(inline(entry.value()));
        text.append("  # ").append(printable(entry.origin().toString())).append('\n');
      }
    }
  }

  private void sections(ConfigTree.Sequence sequence, int depth) {
    for (ConfigTree item : sequence.items()) {
      text.repeat("  ", depth).append("-\n");
      if (item instanceof ConfigTree.Mapping mapping) {
        mapping(mapping, depth + 1);
      }
    }
  }

  static String inline(ConfigTree tree) {
    return switch (tree) {
      case ConfigTree.Scalar scalar -> scalar(scalar);
      case ConfigTree.Sequence sequence ->
          sequence.items().stream()
              .map(YamlWriter::inline)
              .collect(Collectors.joining(", ", "[", "]"));
      case ConfigTree.Mapping mapping ->
          mapping.entries().stream()
              .map(entry -> entry.key() + ": " + inline(entry.value()))
              .collect(Collectors.joining(", ", "{", "}"));
    };
  }

  private static String scalar(ConfigTree.Scalar scalar) {
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
