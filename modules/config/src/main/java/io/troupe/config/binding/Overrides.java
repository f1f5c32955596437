package io.troupe.config.binding;

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
  static ConfigTree.Mapping apply(
      ConfigTree.Mapping root, List<String> assignments, ViolationLog findings) {
    ConfigTree.Mapping result = root;
    for (String assignment : assignments) {
      ValueOrigin origin = new ValueOrigin.CommandLine(assignment);
      int equals = assignment.indexOf('=');
      String path = equals < 0 ? "" : assignment.substring(0, equals).strip();
      if (!path.matches("[^.\\s]+(\\.[^.\\s]+)*")) {
        findings.add(
            new ConfigViolation(
                origin,
                "",
                "must be path=value",
                assignment.isBlank() ? "nothing" : assignment,
                "write for example --set training.steps=100"));
        continue;
      }
      Optional<ConfigTree> value =
          value(path, assignment.substring(equals + 1).strip(), origin, findings);
      if (value.isPresent()) {
        result = set(result, List.of(path.split("\\.")), value.get(), origin);
      }
    }
    return result;
  }

  /**
   * Lists and quoted texts are read as in the file; any other text is what it is.
   *
   * @return empty where it cannot be read, which the findings say
   */
  private static Optional<ConfigTree> value(
      String path, String text, ValueOrigin origin, ViolationLog findings) {
    List<ConfigViolation> violations = new ArrayList<>();
    Optional<ConfigTree> read = YamlReader.value(path, text, origin, violations);
    if (!isWithin(text, '[', ']') && !isWithin(text, '"', '"') && !isWithin(text, '\'', '\'')) {
      boolean plain =
          text.isEmpty()
              || (read.orElse(null) instanceof ConfigTree.Scalar(String same, boolean p, var _)
                  && p
                  && same.equals(text));
      return Optional.of(new ConfigTree.Scalar(text, plain, origin));
    }
    violations.forEach(findings::add);
    return read;
  }

  private static boolean isWithin(String text, char open, char close) {
    return text.length() > 1 && text.charAt(0) == open && text.charAt(text.length() - 1) == close;
  }

  private static ConfigTree.Mapping set(
      ConfigTree.Mapping mapping, List<String> path, ConfigTree value, ValueOrigin origin) {
    String key = path.getFirst();
    if (path.size() == 1) {
      return mapping.with(new ConfigTree.Entry(key, origin, value));
    }
    Matcher item = ITEM.matcher(key);
    if (item.matches()
        && mapping.entry(item.group(1)).orElse(new ConfigTree.Entry(key, origin, value)).value()
            instanceof ConfigTree.Sequence row) {
      int index = Integer.parseInt(item.group(2));
      if (index < row.items().size()
          && row.items().get(index) instanceof ConfigTree.Mapping section) {
        List<ConfigTree> items = new ArrayList<>(row.items());
        items.set(index, set(section, path.subList(1, path.size()), value, origin));
        ValueOrigin where = row.origin();
        return mapping.with(
            new ConfigTree.Entry(item.group(1), where, new ConfigTree.Sequence(items, where)));
      }
    }
    Optional<ConfigTree.Entry> present = mapping.entry(key);
    List<String> rest = path.subList(1, path.size());
    if (present.isPresent() && present.get().value() instanceof ConfigTree.Mapping inner) {
      return mapping.with(
          new ConfigTree.Entry(key, present.get().origin(), set(inner, rest, value, origin)));
    }
    ConfigTree.Mapping fresh = new ConfigTree.Mapping(List.of(), origin);
    return mapping.with(new ConfigTree.Entry(key, origin, set(fresh, rest, value, origin)));
  }
}
