package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Advice that no text gives a user, wherever the text is. */
final class AdviceTest {
  private static final Path ROOT = Path.of("..", "..");

  /** The bound on staleness is what a run is an experiment on: no text advises to turn it. */
  private static final Pattern STALENESS =
      Pattern.compile(
          "--set training\\.max_staleness"
              + "|\\b(lower|raise|reduce|increase|decrease|try)\\b[^.;|\\n]{0,40}"
              + "(max_staleness|(the|its) staleness)",
          Pattern.CASE_INSENSITIVE);

  private static List<Path> texts() throws IOException {
    List<Path> texts = new ArrayList<>();
    try (Stream<Path> modules = Files.list(ROOT.resolve("modules"))) {
      for (Path module : modules.map(each -> each.resolve("src/main")).toList()) {
        if (Files.isDirectory(module)) {
          texts.addAll(under(module));
        }
      }
    }
    texts.addAll(under(ROOT.resolve("docs")));
    texts.addAll(under(ROOT.resolve("conf")));
    texts.add(ROOT.resolve("README.md"));
    return texts;
  }

  private static List<Path> under(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(
              file ->
                  Stream.of(".java", ".md", ".js", ".html", ".yaml")
                      .anyMatch(end -> file.toString().endsWith(end)))
          .toList();
    }
  }

  @Test
  void texts_anywhere_adviseNobodyToChangeTheBoundOnStaleness() throws IOException {
    List<String> advice = new ArrayList<>();
    for (Path file : texts()) {
      // A string of several lines is read as one.
      String text = Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", "");
      STALENESS
          .matcher(text)
          .results()
          .forEach(found -> advice.add(ROOT.relativize(file) + ": " + found.group()));
    }
    assertThat(advice).isEmpty();
  }
}
