package io.troupe.tasks.fetch;

import io.troupe.tasks.rows.TaskDataException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * The configurations that the front matter of a data set's {@code README.md} declares.
 *
 * @param place of the data set, for messages
 * @param configs by their names; empty if the data set has none
 */
record DatasetCard(String place, Map<String, Config> configs) {
  /** The name of the file. */
  static final String FILE = "README.md";

  private static final Pattern FRONT =
      Pattern.compile("\\A\\s*---[ \\t]*\\R(.*?\\R)---[ \\t]*(\\R|\\z)", Pattern.DOTALL);

  /**
   * A configuration.
   *
   * @param folder that its files lie in, with a slash at its end; empty means the data set's
   * @param files patterns by split; empty means that the names of the files decide
   * @param isDefault whether it is the one that is read when none is named
   */
  record Config(String folder, Map<String, List<String>> files, boolean isDefault) {}

  /** Returns the card of a README; an empty text has no configurations. */
  static DatasetCard of(String place, String readme) {
    Map<String, Config> configs = new LinkedHashMap<>();
    Matcher front = FRONT.matcher(readme.replaceFirst("^\\uFEFF", ""));
    if (front.find()) {
      if (yaml(place, front.group(1)) instanceof Map<?, ?> card && card.get("configs") != null) {
        if (!(card.get("configs") instanceof List<?> listed)) {
          throw bad(place, "configs is a list, not " + card.get("configs"));
        }
        listed.forEach(each -> config(place, each, configs));
      }
    }
    return new DatasetCard(place, configs);
  }

  private static Object yaml(String place, String text) {
    try {
      Object value = new Yaml(new SafeConstructor(new LoaderOptions())).load(text);
      return value == null ? Map.of() : value;
    } catch (YAMLException broken) {
      throw bad(place, "it is no YAML: " + broken.getMessage());
    }
  }

  private static void config(String place, Object each, Map<String, Config> configs) {
    if (!(each instanceof Map<?, ?> config) || config.get("config_name") == null) {
      throw bad(place, "each of configs has a config_name, not " + each);
    }
    Object folder = config.get("data_dir");
    Object files = config.get("data_files");
    String prefix = folder == null ? "" : path(place, folder).replaceAll("/+$", "") + "/";
    configs.put(
        String.valueOf(config.get("config_name")),
        new Config(
            prefix.equals("./") ? "" : prefix,
            files == null ? Map.of() : files(place, files),
            Boolean.TRUE.equals(config.get("default"))));
  }

  private static Map<String, List<String>> files(String place, Object files) {
    List<?> listed = files instanceof List<?> list ? list : List.of(files);
    Map<String, List<String>> splits = new LinkedHashMap<>();
    for (Object each : listed) {
      if (!(each instanceof Map<?, ?> entry)) {
        splits.computeIfAbsent("train", _ -> new ArrayList<>()).add(path(place, each));
        continue;
      }
      String split = String.valueOf(entry.get("split"));
      Object paths = entry.get("path");
      if (entry.size() != 2 || paths == null || !SplitRules.isName(split)) {
        throw bad(place, "each of data_files is a path, or has a split and a path, not " + each);
      }
      List<?> all = paths instanceof List<?> list ? list : List.of(paths);
      if (splits.put(split, all.stream().map(path -> path(place, path)).toList()) != null) {
        throw bad(place, "data_files has the split " + split + " twice");
      }
    }
    return splits;
  }

  private static String path(String place, Object path) {
    if (!(path instanceof String text)
        || text.contains("://")
        || text.startsWith("/")
        || List.of(text.split("/", -1)).contains("..")) {
      throw bad(place, "a path is a text that stays in the folder of the data set, not " + path);
    }
    return text.startsWith("./") ? text.substring(2) : text;
  }

  /**
   * Returns the configuration that is read when none is named: the only one, the one called
   * default, or the one marked as such.
   */
  Optional<Config> usual() {
    List<String> names =
        configs.entrySet().stream()
            .filter(
                each ->
                    configs.size() == 1
                        || each.getKey().equals("default")
                        || each.getValue().isDefault())
            .map(Map.Entry::getKey)
            .toList();
    if (names.size() > 1) {
      throw bad(place, "it has several default configs: " + names);
    }
    return names.stream().findFirst().map(configs::get);
  }

  private static TaskDataException bad(String place, String what) {
    return new TaskDataException(
        "%s: the front matter of README.md cannot be used: %s; correct it".formatted(place, what));
  }
}
