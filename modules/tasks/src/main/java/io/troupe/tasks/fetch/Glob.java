package io.troupe.tasks.fetch;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A pattern of file names as {@code fsspec} reads it: {@code *} and {@code ?} within one folder,
 * {@code [a-z]}, and {@code **} for any number of folders. Hidden files, and folders that begin
 * with two underscores, match only where the pattern names such ones too.
 */
final class Glob {
  private static final String MAGIC = "*?[";

  private final String text;
  private final Pattern pattern;

  Glob(String text) {
    this.text = text.startsWith("./") ? text.substring(2) : text;
    StringBuilder regex = new StringBuilder();
    List<String> parts = List.of(this.text.split("/", -1));
    for (int i = 0; i < parts.size(); i++) {
      boolean last = i == parts.size() - 1;
      switch (parts.get(i)) {
        case "**" -> regex.append(last ? ".*" : "(?:.+/)?");
        case "*" -> regex.append("[^/]+").append(last ? "" : "/");
        default -> regex.append(segment(parts.get(i))).append(last ? "" : "/");
      }
    }
    this.pattern = Pattern.compile(regex.toString(), Pattern.DOTALL);
  }

  private static String segment(String part) {
    StringBuilder regex = new StringBuilder();
    int at = 0;
    while (at < part.length()) {
      char c = part.charAt(at);
      int close = c == '[' ? part.indexOf(']', at + 2) : -1;
      if (close > 0) {
        String set = part.substring(at + 1, close).replaceAll("[\\\\\\[&^]", "\\\\$0");
        regex.append('[').append(set.startsWith("!") ? "^" + set.substring(1) : set).append(']');
        at = close;
      } else {
        regex.append(
            switch (c) {
              case '*' -> "[^/]*";
              case '?' -> "[^/]";
              default -> Pattern.quote(String.valueOf(c));
            });
      }
      at++;
    }
    return regex.toString();
  }

  /** Whether this is a pattern rather than one name. */
  boolean isMagic() {
    return MAGIC.chars().anyMatch(c -> text.indexOf(c) >= 0);
  }

  boolean matches(String name) {
    return pattern.matcher(name).matches()
        && count(parts(name), ".") == count(parts(text), ".")
        && count(folders(name), "__") == count(folders(text), "__");
  }

  private static List<String> parts(String path) {
    return Arrays.asList(path.split("/", -1));
  }

  private static List<String> folders(String path) {
    return parts(path).subList(0, parts(path).size() - 1);
  }

  private static long count(List<String> parts, String beginning) {
    return parts.stream()
        .filter(part -> part.startsWith(beginning) && !part.matches("\\.+"))
        .count();
  }

  @Override
  public String toString() {
    return text;
  }
}
