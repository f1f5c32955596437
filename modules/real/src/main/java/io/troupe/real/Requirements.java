package io.troupe.real;

import static io.troupe.core.Require.require;

import io.troupe.base.hash.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The packages of an environment, each with the one version of it, in a requirements file of pip.
 * Its comments {@code # python 3.12} and {@code # install --no-deps} name the Python and options of
 * the installation.
 */
record Requirements(String name, Path file, String text) {
  private static final Pattern PINNED =
      Pattern.compile("([A-Za-z0-9._-]+)(\\[[^]]*])? *== *([^ ;,*]+) *(;.*)?");
  private static final Pattern PYTHON = Pattern.compile("(?m)^# python (3\\.\\d+)$");
  private static final Pattern OPTIONS = Pattern.compile("(?m)^# install (.+)$");
  private static final int HASH = 12;

  Requirements {
    require(PYTHON.matcher(text).find(), "%s has no line '# python 3.X'".formatted(file));
    for (String line : lines(text).toList()) {
      require(
          PINNED.matcher(line).matches(),
          "%s: '%s' is not PACKAGE==VERSION; a claim is one about a version".formatted(file, line));
    }
  }

  static Requirements read(Path folder, String name) throws IOException {
    Path file = folder.resolve(name + ".txt");
    return new Requirements(name, file, Files.readString(file));
  }

  private static Stream<String> lines(String text) {
    return text.lines().map(String::strip).filter(line -> !line.isEmpty() && !line.startsWith("#"));
  }

  /** Returns the Python that the packages are for, such as {@code 3.12}. */
  String python() {
    Matcher python = PYTHON.matcher(text);
    require(python.find(), "the constructor has found it");
    return python.group(1);
  }

  /** Returns the options of the installation. */
  List<String> options() {
    return OPTIONS
        .matcher(text)
        .results()
        .flatMap(line -> Stream.of(line.group(1).strip().split(" +", -1)))
        .toList();
  }

  /** Returns the version of a package. */
  Optional<String> version(String name) {
    return lines(text)
        .map(PINNED::matcher)
        .filter(line -> line.matches() && same(line.group(1), name))
        .map(line -> line.group(3))
        .findFirst();
  }

  private static boolean same(String one, String other) {
    return normal(one).equals(normal(other));
  }

  private static String normal(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[-_.]+", "-");
  }

  /** Returns the name of a folder that no other set of packages has. */
  String folderName() {
    return name + "-" + Sha256.hex(text.getBytes(StandardCharsets.UTF_8)).substring(0, HASH);
  }
}
