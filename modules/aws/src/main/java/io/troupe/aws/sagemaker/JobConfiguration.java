package io.troupe.aws.sagemaker;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.binding.ResolvedConfig.Value;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Assignments over the configuration that make it right inside the containers: those of the file,
 * and paths of this machine as the paths of the channels that stand in for them.
 *
 * @param assignments value by key
 * @param paths of this machine, by key, that no channel stands in for
 */
record JobConfiguration(Map<String, String> assignments, Map<String, String> paths) {
  private static final Pattern FILE =
      Pattern.compile(".*/.*|.*\\.(jsonl?|parquet|ya?ml|py|jar|txt|csv)");

  JobConfiguration {
    assignments = Collections.unmodifiableMap(new TreeMap<>(assignments));
    paths = Collections.unmodifiableMap(new TreeMap<>(paths));
  }

  /**
   * The configuration of a job.
   *
   * @param data folder of the channels in the containers
   * @param here whether a path exists on this machine
   */
  static JobConfiguration of(
      SageMakerFile file, ResolvedConfig<RunConfig> run, Path data, Predicate<String> here) {
    Map<String, String> assignments = new LinkedHashMap<>();
    for (String each : file.run().set()) {
      int equals = each.indexOf('=');
      assignments.put(each.substring(0, equals).strip(), each.substring(equals + 1).strip());
    }
    Map<String, String> paths = new LinkedHashMap<>();
    for (Value value : run.values()) {
      String rewritten = value.isChosen() ? rewritten(file, data, value.text()) : value.text();
      if (!rewritten.equals(value.text())) {
        assignments.put(value.path(), rewritten);
      }
      if (value.isChosen() && !value.path().equals("run.folder")) {
        words(rewritten).stream()
            .filter(word -> !word.startsWith(data.toString()))
            .filter(word -> FILE.matcher(word).matches() && here.test(word))
            .forEach(word -> paths.put(value.path(), word));
      }
    }
    return new JobConfiguration(assignments, paths);
  }

  private static String rewritten(SageMakerFile file, Path data, String text) {
    String result = text;
    for (SageMakerFile.DataChannel channel : file.run().channels()) {
      String target = Matcher.quoteReplacement(data.resolve(channel.name()).toString());
      for (String form : forms(channel.replaces())) {
        result =
            Pattern.compile("(?<![\\w./-])%s(?![\\w.-])".formatted(Pattern.quote(form)))
                .matcher(result)
                .replaceAll(target);
      }
    }
    return result;
  }

  /** A path as it is written, and as a loaded configuration has one that exists. */
  private static List<String> forms(String path) {
    return path.isEmpty()
        ? List.of()
        : List.of(Path.of(path).toAbsolutePath().normalize().toString(), path);
  }

  /** The scalars of a value as YAML has it on one line. */
  private static List<String> words(String text) {
    String inner =
        text.startsWith("[") && text.endsWith("]") ? text.substring(1, text.length() - 1) : text;
    List<String> words = new ArrayList<>();
    for (String word : inner.split(",", -1)) {
      words.add(word.strip().replaceAll("^[\"']|[\"']$", ""));
    }
    return words;
  }
}
