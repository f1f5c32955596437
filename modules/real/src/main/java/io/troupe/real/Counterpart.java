package io.troupe.real;

import static io.troupe.core.Require.require;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A real program beside which Troupe is run: a folder with {@code counterpart.properties} and the
 * driver of its cases, {@code cases.py}.
 *
 * @param claim what its cases show, as a sentence
 * @param requirements of its environment
 * @param packages of these, whose versions are the counterpart's
 */
record Counterpart(
    Path folder,
    String name,
    String claim,
    Requirements requirements,
    List<String> packages,
    ProgramLimits limits) {
  private static final String DESCRIPTOR = "counterpart.properties";
  private static final Set<String> KEYS =
      Set.of("claim", "environment", "packages", "minutes", "memory_mib");
  private static final int MOST_MINUTES = 40;
  private static final int MOST_MEBIBYTES = 5 << 10;

  Counterpart {
    packages = List.copyOf(packages);
    for (String each : packages) {
      require(
          requirements.version(each).isPresent(),
          "%s: packages names %s, of which %s has no version"
              .formatted(folder.resolve(DESCRIPTOR), each, requirements.file()));
    }
  }

  /** Returns the counterparts of a folder that has {@code environments} beside them, by name. */
  static List<Counterpart> readAll(Path module) throws IOException {
    List<Counterpart> found = new ArrayList<>();
    try (Stream<Path> folders = Files.list(module.resolve("counterparts"))) {
      for (Path folder : folders.sorted().toList()) {
        if (Files.isRegularFile(folder.resolve(DESCRIPTOR))) {
          found.add(read(folder, module.resolve("environments")));
        }
      }
    }
    return found;
  }

  static Counterpart read(Path folder, Path environments) throws IOException {
    Properties keys = new Properties();
    Path file = folder.resolve(DESCRIPTOR);
    try (Reader in = Files.newBufferedReader(file)) {
      keys.load(in);
    }
    require(
        keys.stringPropertyNames().equals(KEYS),
        "%s has the keys %s, not exactly %s"
            .formatted(file, new TreeSet<>(keys.stringPropertyNames()), new TreeSet<>(KEYS)));
    return new Counterpart(
        folder,
        folder.getFileName().toString(),
        keys.getProperty("claim"),
        Requirements.read(environments, keys.getProperty("environment")),
        List.of(keys.getProperty("packages").strip().split(" +", -1)),
        new ProgramLimits(
            Duration.ofMinutes(number(file, keys, "minutes", MOST_MINUTES)),
            (long) number(file, keys, "memory_mib", MOST_MEBIBYTES) << 20));
  }

  private static int number(Path file, Properties keys, String key, int most) {
    String value = keys.getProperty(key).strip();
    boolean valid = value.matches("[1-9]\\d{0,4}") && Integer.parseInt(value) <= most;
    require(valid, "%s: %s is in 1 to %d, not %s".formatted(file, key, most, value));
    return Integer.parseInt(value);
  }

  /** Returns its version: that of its package, or of each of its packages with the name. */
  String version() {
    return packages.size() == 1
        ? versionOf(packages.getFirst())
        : packages.stream()
            .map(each -> each + " " + versionOf(each))
            .collect(Collectors.joining(", "));
  }

  private String versionOf(String name) {
    return requirements.version(name).orElseThrow();
  }

  /** Returns the driver of its cases. */
  Path driver() {
    return folder.resolve("cases.py");
  }
}
