package io.troupe.tasks.fetch;

import io.troupe.tasks.rows.TaskDataException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Which files of a folder are which split, by the rules of the {@code datasets} library (5.0.1,
 * {@code data_files.py}): shards in {@code data/}, else folders named by a split, else files named
 * by a split, else all files are {@code train}.
 */
final class SplitRules {
  private static final String SEPARATOR = "[-._ 0-9]";
  private static final Glob SHARDS =
      new Glob("data/*-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]*.*");
  private static final Pattern SHARD = Pattern.compile("(.+)-\\d{5}-of-\\d{5}");
  private static final Pattern SPLIT_NAME = Pattern.compile("\\w+(\\.\\w+)*");

  /** The words that name a split, in the order of the splits. */
  private static final Map<String, List<String>> WORDS = new LinkedHashMap<>();

  static {
    WORDS.put("train", List.of("train", "training"));
    WORDS.put("validation", List.of("validation", "valid", "dev", "val"));
    WORDS.put("test", List.of("test", "testing", "eval", "evaluation"));
  }

  private SplitRules() {}

  /** Whether a split may have the name. */
  static boolean isName(String split) {
    return SPLIT_NAME.matcher(split).matches();
  }

  /**
   * Returns the files with rows of each split.
   *
   * @param place for messages
   * @param names of all files, relative to the folder
   */
  static Map<String, List<String>> splits(String place, Collection<String> names) {
    List<String> data = names.stream().filter(name -> !FileKinds.describes(name)).sorted().toList();
    Map<String, List<String>> splits = sharded(place, data);
    if (splits.isEmpty()) {
      splits = named(data, SplitRules::folders);
    }
    if (splits.isEmpty()) {
      splits = named(data, SplitRules::files);
    }
    if (splits.isEmpty()) {
      splits.put("train", matching(data, Stream.of("**")));
    }
    splits.replaceAll((_, files) -> FileKinds.ofCommonKind(files));
    splits.values().removeIf(List::isEmpty);
    refuseShared(place, splits);
    return splits;
  }

  private static Map<String, List<String>> sharded(String place, List<String> names) {
    Map<String, List<String>> found = new LinkedHashMap<>();
    for (String name : names) {
      Matcher shard = SHARD.matcher(name.substring(name.lastIndexOf('/') + 1));
      if (SHARDS.matches(name) && shard.lookingAt()) {
        if (!isName(shard.group(1))) {
          throw new TaskDataException(
              "%s: %s is the file of a split \"%s\", and the name of a split has letters, digits and"
                      .formatted(place, name, shard.group(1))
                  + " underscores; rename it");
        }
        found.computeIfAbsent(shard.group(1), _ -> new ArrayList<>()).add(name);
      }
    }
    return found;
  }

  private static Map<String, List<String>> named(
      List<String> names, Function<String, Stream<String>> patterns) {
    Map<String, List<String>> found = new LinkedHashMap<>();
    WORDS.forEach(
        (split, words) -> {
          List<String> files = matching(names, words.stream().flatMap(patterns));
          if (!files.isEmpty()) {
            found.put(split, files);
          }
        });
    return found;
  }

  private static Stream<String> folders(String word) {
    return Stream.of(
        "**/" + word + "/**",
        "**/" + word + SEPARATOR + "*/**",
        "**/*" + SEPARATOR + word + "/**",
        "**/*" + SEPARATOR + word + SEPARATOR + "*/**");
  }

  private static Stream<String> files(String word) {
    return Stream.of("**/" + word + SEPARATOR + "*", "**/*" + SEPARATOR + word + SEPARATOR + "*");
  }

  /** Returns the names once for each pattern: which kind is common is counted so. */
  private static List<String> matching(List<String> names, Stream<String> patterns) {
    return patterns.map(Glob::new).flatMap(glob -> names.stream().filter(glob::matches)).toList();
  }

  /** The library reads such a file as rows of both splits. */
  private static void refuseShared(String place, Map<String, List<String>> splits) {
    Map<String, String> owners = new LinkedHashMap<>();
    splits.forEach(
        (split, files) ->
            files.forEach(
                file -> {
                  String other = owners.put(file, split);
                  if (other != null) {
                    throw new TaskDataException(
                        "%s: %s is named after the splits %s; rename it or its folder after one"
                            .formatted(place, file, new TreeSet<>(List.of(other, split))));
                  }
                }));
  }
}
