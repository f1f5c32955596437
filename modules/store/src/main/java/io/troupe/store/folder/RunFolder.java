package io.troupe.store.folder;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.base.files.DurableFiles;
import io.troupe.base.files.FileTree;
import io.troupe.base.files.PrivateFiles;
import io.troupe.store.file.DiskFailureException;
import io.troupe.store.file.FormatException;
import io.troupe.store.file.FormatVersions;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The folder of one run, where everything it writes is; the layout is in docs/formats.md. */
public final class RunFolder {
  /** Field of run.json: what kind of run it is; without it, one of `troupe train`. */
  public static final String KIND = "kind";

  /** The kind of a run of `troupe sft`. */
  public static final String SUPERVISED = "sft";

  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);
  private static final String CONFIG = "config.yaml";
  private static final String RESOLVED = "resolved.yaml";
  private static final String RUN = "run.json";
  private static final String JOURNAL = "journal";
  private static final String CHECKPOINTS = "checkpoints";
  private static final String TRACES = "traces";
  private static final int SUGGESTIONS = 5;
  private static final int FORMAT = 1;
  private static final Pattern RESOLVED_FORMAT = Pattern.compile("# format (\\S+)\\R");
  private static final String REMEDY =
      "use the version of Troupe that wrote it (run.json says which), or begin a new run with its"
          + " config.yaml";

  /**
   * The facts of a run at its start.
   *
   * @param config the configuration file's bytes
   * @param resolved every key with its value, as YAML
   * @param run the content of run.json
   * @param gitDiff uncommitted changes; "" when there are none
   * @param gitStatus files that differ from the commit, and untracked ones; "" when there are none
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  public record Contents(
      byte[] config, String resolved, Map<String, ?> run, String gitDiff, String gitStatus) {
    /** The contents of a run whose sources are as they were committed, but for tracked changes. */
    public Contents(byte[] config, String resolved, Map<String, ?> run, String gitDiff) {
      this(config, resolved, run, gitDiff, "");
    }
  }

  private final Path path;

  private RunFolder(Path path) {
    this.path = path;
  }

  /**
   * Makes a folder that did not exist, whatever else starts in the same second; durable when it
   * returns.
   *
   * @param root folder of the runs, made if absent
   * @param stem the configuration file's name without its ending
   * @param start local time
   * @throws DiskFailureException if it cannot be made; nothing is left of it
   */
  public static RunFolder create(Path root, String stem, LocalDateTime start, Contents contents)
      throws IOException {
    require(
        !stem.isBlank() && !stem.contains("/") && !stem.contains("\\") && !stem.startsWith("."),
        "a run is named after its configuration file, and '%s' is no file name",
        stem);
    return create(root, stem + "-" + STAMP.format(start), contents);
  }

  /**
   * Makes a folder that did not exist, as above, under this name or the next free one behind it.
   *
   * @throws DiskFailureException if it cannot be made; nothing is left of it
   */
  public static RunFolder create(Path root, String name, Contents contents) throws IOException {
    try {
      Files.createDirectories(root);
      RunFolder folder = new RunFolder(makeNew(root, name));
      try {
        folder.fill(contents);
        DurableFiles.syncFolder(root);
        return folder;
      } catch (IOException | RuntimeException failure) {
        FileTree.delete(folder.path);
        throw failure;
      }
    } catch (IOException failure) {
      throw DiskFailureException.explain("make the run folder", root.resolve(name), failure);
    }
  }

  /**
   * Finds the folder of a run that is to continue.
   *
   * @param root folder of the runs
   * @param run a folder's path, or its bare name under {@code root}
   * @throws IOException if there is none, or something of it is missing; names what, and the newest
   *     runs there are
   */
  public static RunFolder open(Path root, String run) throws IOException {
    RunFolder folder = view(root, run);
    if (!Files.isWritable(folder.path)) {
      throw new IOException(
          "run folder %s cannot be written by user %s; change its owner, or copy it"
              .formatted(folder.path.toAbsolutePath(), System.getProperty("user.name")));
    }
    Files.createDirectories(folder.traces());
    return folder;
  }

  /**
   * Finds the folder of a run that is only looked at; it may be at work, and may not be writable.
   *
   * @throws FormatException if run.json or resolved.yaml is of another version
   * @throws IOException as {@link #open}
   */
  public static RunFolder view(Path root, String run) throws IOException {
    Path path = locate(root, run);
    List<String> missing = new ArrayList<>();
    for (String file : List.of(CONFIG, RUN)) {
      if (!Files.isRegularFile(path.resolve(file))) {
        missing.add(file);
      }
    }
    for (String folder : List.of(JOURNAL, CHECKPOINTS)) {
      if (!Files.isDirectory(path.resolve(folder))) {
        missing.add(folder + "/");
      }
    }
    if (!missing.isEmpty()) {
      throw new IOException(
          "%s is not a whole run folder: %s missing. %s"
              .formatted(path.toAbsolutePath(), String.join(", ", missing), suggestions(root)));
    }
    checkFormats(path);
    return new RunFolder(path);
  }

  /** Returns the names of all whole runs under a root, the one changed last first. */
  public static List<String> list(Path root) throws IOException {
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    record Run(String name, FileTime changed) {}
    List<Run> runs = new ArrayList<>();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(root)) {
      for (Path folder : folders) {
        if (Files.isRegularFile(folder.resolve(RUN))) {
          Path journal = folder.resolve(JOURNAL);
          Path dated = Files.isDirectory(journal) ? journal : folder;
          try {
            runs.add(new Run(folder.getFileName().toString(), Files.getLastModifiedTime(dated)));
          } catch (NoSuchFileException deleted) {
            // Another process deletes the run meanwhile.
          }
        }
      }
    }
    runs.sort(Comparator.comparing(Run::changed).reversed().thenComparing(Run::name));
    return runs.stream().map(Run::name).toList();
  }

  /**
   * The name of the run that was begun from a configuration file and changed last, if there is one.
   *
   * @param stem the configuration file's name without its ending
   */
  public static Optional<String> newestOf(Path root, String stem) throws IOException {
    Pattern name = Pattern.compile(Pattern.quote(stem) + "-\\d{8}-\\d{6}(_\\d+)?");
    return list(root).stream().filter(run -> name.matcher(run).matches()).findFirst();
  }

  public Path path() {
    return path;
  }

  /** The folder's own name, which is the run's id. */
  public String name() {
    return String.valueOf(path.toAbsolutePath().normalize().getFileName());
  }

  /** Whether the run is one of {@code troupe sft}. */
  public boolean isSupervised() throws IOException {
    return StoreJson.LINE
        .readTree(Files.readAllBytes(path.resolve(RUN)))
        .path(KIND)
        .asText()
        .equals(SUPERVISED);
  }

  public Path config() {
    return path.resolve(CONFIG);
  }

  public Path resolved() {
    return path.resolve(RESOLVED);
  }

  /**
   * Replaces the resolved configuration, whole or not at all: what the run continues with from
   * here.
   *
   * @param yaml every key with its value
   * @throws DiskFailureException if it cannot be written; the old one stays
   */
  public void replaceResolved(String yaml) throws IOException {
    try {
      AtomicFile.replace(resolved(), resolved(yaml));
    } catch (IOException failure) {
      throw DiskFailureException.explain("replace the resolved configuration", resolved(), failure);
    }
  }

  public Path journal() {
    return path.resolve(JOURNAL);
  }

  public Path checkpoints() {
    return path.resolve(CHECKPOINTS);
  }

  public Path traces() {
    return path.resolve(TRACES);
  }

  /** Returns the file in which a run stores the tokens of its steps, if it does. */
  public Path tokens() {
    return path.resolve("tokens");
  }

  /** The model of latencies that the run is compared with, if it has one. */
  public Path model() {
    return path.resolve("model.json");
  }

  public Path metrics() {
    return path.resolve("metrics.jsonl");
  }

  @Override
  public String toString() {
    return path.toString();
  }

  private static void checkFormats(Path path) throws IOException {
    Path run = path.resolve(RUN);
    JsonNode json;
    try {
      json = StoreJson.LINE.readTree(Files.readAllBytes(run));
    } catch (JsonProcessingException damaged) {
      throw new FormatException(
          "%s is no JSON (%s); restore it from a copy".formatted(run, damaged.getOriginalMessage()),
          damaged);
    }
    FormatVersions.check(run, json, FORMAT, REMEDY);
    Path resolved = path.resolve(RESOLVED);
    if (Files.isRegularFile(resolved)) {
      Matcher format = RESOLVED_FORMAT.matcher(Files.readString(resolved));
      String found = format.lookingAt() ? format.group(1) : "0";
      if (!found.equals(Integer.toString(FORMAT))) {
        throw FormatVersions.other(resolved.toString(), found, FORMAT, REMEDY);
      }
    }
  }

  private static byte[] resolved(String yaml) {
    return "# format %d\n%s".formatted(FORMAT, yaml).getBytes(StandardCharsets.UTF_8);
  }

  private static Path makeNew(Path root, String name) throws IOException {
    for (int i = 0; ; i++) {
      Path path = root.resolve(i == 0 ? name : name + "_" + i);
      try {
        return PrivateFiles.newFolder(path); // Nobody else comes to what lies in it.
      } catch (FileAlreadyExistsException taken) {
        // mkdir decides who has the name; the loser takes the next one.
      }
    }
  }

  private void fill(Contents contents) throws IOException {
    for (Path folder : List.of(journal(), traces(), checkpoints())) {
      Files.createDirectory(folder);
    }
    DurableFiles.write(config(), contents.config());
    DurableFiles.write(resolved(), resolved(contents.resolved()));
    writePatch("git_diff.patch", contents.gitDiff());
    writePatch("git_status.txt", contents.gitStatus());
    Map<String, Object> run = new LinkedHashMap<>(Map.of("format", FORMAT));
    run.putAll(contents.run());
    DurableFiles.write(path.resolve(RUN), StoreJson.PRETTY.writeValueAsBytes(run));
    DurableFiles.syncFolder(path);
  }

  private void writePatch(String name, String text) throws IOException {
    if (!text.isEmpty()) {
      Path patches = Files.createDirectories(path.resolve("patches"));
      DurableFiles.write(patches.resolve(name), text.getBytes(StandardCharsets.UTF_8));
      DurableFiles.syncFolder(patches);
    }
  }

  private static Path locate(Path root, String run) throws IOException {
    try {
      Path given = Path.of(run);
      boolean bare = given.getNameCount() == 1 && !given.isAbsolute();
      List<Path> places = bare ? List.of(root.resolve(given), given) : List.of(given);
      Optional<Path> found = places.stream().filter(Files::isDirectory).findFirst();
      if (!run.isBlank() && found.isPresent()) {
        return found.get();
      }
      throw new IOException(
          "there is no run folder %s. %s"
              .formatted(places.getFirst().toAbsolutePath().normalize(), suggestions(root)));
    } catch (InvalidPathException malformed) {
      throw new IOException(
          "'%s' is neither a path nor a run's name. %s".formatted(run, suggestions(root)),
          malformed);
    }
  }

  private static String suggestions(Path root) throws IOException {
    List<String> newest = list(root).stream().limit(SUGGESTIONS).toList();
    return newest.isEmpty()
        ? "There is no run in %s".formatted(root.toAbsolutePath().normalize())
        : "The newest runs in %s: %s"
            .formatted(root.toAbsolutePath().normalize(), String.join(", ", newest));
  }
}
