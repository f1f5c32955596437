package io.troupe.config.binding;

import io.troupe.config.schema.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * A configuration that has been read, checked and filled in.
 *
 * @param config the records
 * @param file source of the configuration
 * @param tree values and origins, as nested as the file
 * @param values every key with its value, in the order of the schema
 * @param yaml the whole configuration with every default written out, and each origin as a comment;
 *     it loads to equal records from any folder
 */
public record ResolvedConfig<T extends Record>(
    T config, Path file, ConfigTree.Mapping tree, List<Value> values, String yaml) {
  /**
   * One key.
   *
   * @param path such as {@code rollout.max_tokens}
   * @param text the value as YAML has it
   */
  public record Value(String path, String text, ValueOrigin origin) {
    /** Whether the value was set by a person. */
    public boolean isChosen() {
      return !(origin instanceof ValueOrigin.Default);
    }
  }

  public ResolvedConfig {
    values = List.copyOf(values);
  }

  static <T extends Record> ResolvedConfig<T> of(T config, Path file, ConfigTree.Mapping tree) {
    List<Value> values = new ArrayList<>();
    flatten(tree, "", values);
    return new ResolvedConfig<>(config, file, tree, values, YamlWriter.write(tree));
  }

  /** Whether the file or the command line gave this key. */
  public boolean isChosen(String path) {
    return values.stream().anyMatch(value -> value.path().equals(path) && value.isChosen());
  }

  /**
   * Checks rules that need more than the configuration, such as the size of the data.
   *
   * @throws ConfigurationException with all that do not hold
   */
  public void check(BiConsumer<T, RuleChecker> rules) {
    ViolationLog findings = new ViolationLog(file);
    locate(tree, "", findings);
    rules.accept(config, new RuleChecker("", findings));
    if (!findings.inOrder().isEmpty()) {
      throw new ConfigurationException(findings.inOrder());
    }
  }

  private static void flatten(ConfigTree.Mapping mapping, String path, List<Value> values) {
    for (ConfigTree.Entry entry : mapping.entries()) {
      String at = Schema.join(path, entry.key());
      if (entry.value() instanceof ConfigTree.Mapping inner) {
        flatten(inner, at, values);
      } else if (holdsSections(entry.value())) {
        List<ConfigTree> items = ((ConfigTree.Sequence) entry.value()).items();
        for (int i = 0; i < items.size(); i++) {
          flatten((ConfigTree.Mapping) items.get(i), at + "[" + i + "]", values);
        }
      } else {
        values.add(new Value(at, YamlWriter.inline(entry.value()), entry.origin()));
      }
    }
  }

  /** Whether a value is a list of sections, and not of scalars. */
  static boolean holdsSections(ConfigTree tree) {
    return tree instanceof ConfigTree.Sequence(List<ConfigTree> items, _)
        && !items.isEmpty()
        && items.stream().allMatch(ConfigTree.Mapping.class::isInstance);
  }

  private static void locate(ConfigTree.Mapping mapping, String path, ViolationLog findings) {
    for (ConfigTree.Entry entry : mapping.entries()) {
      String at = Schema.join(path, entry.key());
      findings.locate(at, entry);
      if (entry.value() instanceof ConfigTree.Mapping inner) {
        locate(inner, at, findings);
      } else if (holdsSections(entry.value())) {
        List<ConfigTree> items = ((ConfigTree.Sequence) entry.value()).items();
        for (int i = 0; i < items.size(); i++) {
          locate((ConfigTree.Mapping) items.get(i), at + "[" + i + "]", findings);
        }
      }
    }
  }

  /** Returns the keys whose values are others than before, with both values. */
  public List<String> changesSince(ResolvedConfig<T> before) {
    Map<String, String> former = before.texts();
    Map<String, String> now = texts();
    return Stream.concat(
            now.keySet().stream(), former.keySet().stream().filter(key -> !now.containsKey(key)))
        .filter(key -> !text(now, key).equals(text(former, key)))
        .map(key -> "%s %s → %s".formatted(key, text(former, key), text(now, key)))
        .toList();
  }

  private static String text(Map<String, String> texts, String key) {
    return texts.getOrDefault(key, "(not there)");
  }

  private Map<String, String> texts() {
    Map<String, String> texts = new LinkedHashMap<>();
    values.forEach(value -> texts.put(value.path(), value.text()));
    return texts;
  }
}
