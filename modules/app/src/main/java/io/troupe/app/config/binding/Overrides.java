package io.troupe.app.config.binding;

import java.util.List;
import java.util.Optional;

/** Assignments of the command line, {@code path=value}, laid over the file's tree. */
final class Overrides {
  private Overrides() {}

  /** The tree with all assignments made, the later over the earlier. */
  static Tree.Mapping apply(Tree.Mapping root, List<String> assignments, Findings findings) {
    Tree.Mapping result = root;
    for (String assignment : assignments) {
      Origin origin = new Origin.CommandLine(assignment);
      int equals = assignment.indexOf('=');
      String path = equals < 0 ? "" : assignment.substring(0, equals).strip();
      if (!path.matches("[^.\\s]+(\\.[^.\\s]+)*")) {
        findings.add(
            new Violation(
                origin,
                "",
                "must be path=value",
                assignment.isBlank() ? "nothing" : assignment,
                "write for example --set training.steps=100"));
        continue;
      }
      Tree value = value(assignment.substring(equals + 1).strip(), origin);
      result = set(result, List.of(path.split("\\.")), value, origin);
    }
    return result;
  }

  private static Tree value(String text, Origin origin) {
    if (text.startsWith("[") && text.endsWith("]")) {
      String inner = text.substring(1, text.length() - 1).strip();
      List<Tree> items =
          inner.isEmpty()
              ? List.of()
              : List.of(inner.split(",")).stream()
                  .map(item -> value(item.strip(), origin))
                  .toList();
      return new Tree.Sequence(items, origin);
    }
    boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
    return new Tree.Scalar(quoted ? text.substring(1, text.length() - 1) : text, !quoted, origin);
  }

  private static Tree.Mapping set(
      Tree.Mapping mapping, List<String> path, Tree value, Origin origin) {
    String key = path.getFirst();
    if (path.size() == 1) {
      return mapping.with(new Tree.Entry(key, origin, value));
    }
    Optional<Tree.Entry> present = mapping.entry(key);
    List<String> rest = path.subList(1, path.size());
    if (present.isPresent() && present.get().value() instanceof Tree.Mapping inner) {
      return mapping.with(
          new Tree.Entry(key, present.get().origin(), set(inner, rest, value, origin)));
    }
    Tree.Mapping fresh = new Tree.Mapping(List.of(), origin);
    return mapping.with(new Tree.Entry(key, origin, set(fresh, rest, value, origin)));
  }
}
