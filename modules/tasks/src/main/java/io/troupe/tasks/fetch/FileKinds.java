package io.troupe.tasks.fetch;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Which files hold rows, according to their names. */
final class FileKinds {
  /** The kinds of rows by the endings of names; the first is preferred where two are as common. */
  private static final List<Set<String>> KINDS =
      List.of(
          Set.of("parquet", "geoparquet", "gpq"),
          Set.of("arrow"),
          Set.of("jsonl", "json", "ndjson"),
          Set.of("csv", "tsv"));

  /** Endings whose files {@code datasets} reads as rows of another kind, and nothing here does. */
  private static final Set<String> FOREIGN =
      Set.of(
          ("txt conll conllu tar xml hdf5 h5 eval lance tsfile zip png jpg jpeg gif webp bmp tiff"
                  + " mp3 wav flac ogg opus mp4 mov mkv avi webm pdf nii")
              .split(" "));

  private static final List<String> PREFERRED = List.of("csv", "json", "jsonl", "arrow", "parquet");
  private static final Pattern ROWS =
      Pattern.compile(
          ".*\\.(parquet|geoparquet|gpq|arrow|jsonl?|ndjson|csv|tsv)(\\.(gz|zst|zstd|bz2|xz))?",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  /** Files that describe a data set. */
  private static final Set<String> DESCRIPTIONS =
      Set.of(
          "README.md",
          "config.json",
          "dataset_info.json",
          "dataset_infos.json",
          "dataset_dict.json",
          "state.json");

  private FileKinds() {}

  /** Whether a file describes the data set it lies in. */
  static boolean describes(String name) {
    return DESCRIPTIONS.contains(last(name));
  }

  /** Whether a file holds rows. */
  static boolean hasRows(String name) {
    return ROWS.matcher(last(name)).matches() && !describes(name);
  }

  /**
   * Returns the files of the most common kind, each once, which is what a folder of mixed files is
   * read as: data sets are often there in two formats.
   *
   * @return empty if that kind holds no rows that can be read here
   */
  static List<String> ofCommonKind(List<String> names) {
    Map<String, Integer> counts = new TreeMap<>();
    for (String name : names) {
      String[] parts = last(name).split("\\.", -1);
      for (int i = 1; i < parts.length; i++) {
        counts.merge(parts[i].toLowerCase(Locale.ROOT), 1, Integer::sum);
      }
    }
    Optional<String> common =
        counts.keySet().stream()
            .filter(ending -> FOREIGN.contains(ending) || kind(ending).isPresent())
            .max(
                Comparator.<String>comparingInt(counts::get)
                    .thenComparingInt(PREFERRED::indexOf)
                    .thenComparing(Comparator.naturalOrder()));
    return common
        .flatMap(FileKinds::kind)
        .map(
            kind ->
                names.stream().filter(name -> hasRows(name) && is(name, kind)).distinct().toList())
        .orElse(List.of());
  }

  private static Optional<Set<String>> kind(String ending) {
    return KINDS.stream().filter(kind -> kind.contains(ending)).findFirst();
  }

  private static boolean is(String name, Set<String> kind) {
    var matcher = ROWS.matcher(last(name));
    return matcher.matches() && kind.contains(matcher.group(1).toLowerCase(Locale.ROOT));
  }

  private static String last(String name) {
    return name.substring(name.lastIndexOf('/') + 1);
  }
}
