package io.troupe.config.binding;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The violations found so far, and where each key was written. */
final class ViolationLog {
  private final Path file;
  private final List<ConfigViolation> violations = new ArrayList<>();
  private final Map<String, ConfigTree.Entry> entries = new HashMap<>();

  ViolationLog(Path file) {
    this.file = file;
  }

  /** Remembers where {@code path} is. */
  void locate(String path, ConfigTree.Entry entry) {
    entries.put(path, entry);
  }

  Optional<ConfigTree.Entry> entry(String path) {
    return Optional.ofNullable(entries.get(path));
  }

  void add(ConfigViolation violation) {
    violations.add(violation);
  }

  /** Whether neither the key, nor a section around it, nor a key in it has been found wrong. */
  boolean hasNoViolation(String path) {
    if (path.isEmpty()) {
      return violations.isEmpty();
    }
    return violations.stream()
        .map(ConfigViolation::key)
        .noneMatch(bad -> bad.equals(path) || isWithin(path, bad) || isWithin(bad, path));
  }

  private static boolean isWithin(String path, String section) {
    return path.startsWith(section + ".") || path.startsWith(section + "[");
  }

  /** Returns the place of a key: its line, else the line of the nearest section around it. */
  ValueOrigin place(String path) {
    for (String at = path; !at.isEmpty(); at = parent(at)) {
      Optional<ConfigTree.Entry> entry = entry(at);
      if (entry.isPresent() && !(entry.get().origin() instanceof ValueOrigin.Default)) {
        return entry.get().origin();
      }
    }
    return new ValueOrigin.Line(file, 1);
  }

  /** Returns all violations: those of the file by line, then those of the command line. */
  List<ConfigViolation> inOrder() {
    Comparator<ConfigViolation> byLine =
        Comparator.comparingInt(
            violation ->
                violation.origin() instanceof ValueOrigin.Line(_, int line)
                    ? line
                    : Integer.MAX_VALUE);
    return violations.stream().sorted(byLine).distinct().toList();
  }

  private static String parent(String path) {
    int end = Math.max(path.lastIndexOf('.'), path.lastIndexOf('['));
    return end < 0 ? "" : path.substring(0, end);
  }
}
