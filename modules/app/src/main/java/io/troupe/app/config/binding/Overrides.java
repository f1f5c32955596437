package io.troupe.app.config.binding;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Assignments of the command line, {@code path=value}, laid over the file's tree. */
final class Overrides {
  /** A section of a list, from 0: {@code datasets[1]}. */
  private static final Pattern ITEM = Pattern.compile("([^\\[\\]]+)\\[([0-9]{1,4})\\]");

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
    Matcher item = ITEM.matcher(key);
    if (item.matches()
        && mapping.entry(item.group(1)).orElse(new Tree.Entry(key, origin, value)).value()
            instanceof Tree.Sequence row) {
      int index = Integer.parseInt(item.group(2));
      if (index < row.items().size() && row.items().get(index) instanceof Tree.Mapping section) {
        List<Tree> items = new ArrayList<>(row.items());
        items.set(index, set(section, path.subList(1, path.size()), value, origin));
        Origin where = row.origin();
        return mapping.with(new Tree.Entry(item.group(1), where, new Tree.Sequence(items, where)));
      }
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
