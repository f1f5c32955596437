package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The dependencies in the modules' POMs: the picture in docs/overview.md and the list in README.md
 * agree with them, and the launcher's class path has every library that they need.
 */
class OverviewTest {
  private static final Path ROOT = Path.of("../..");
  private static final Pattern DEPENDENCY =
      Pattern.compile("<dependency>(.*?)</dependency>", Pattern.DOTALL);
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>([^<]+)</artifactId>");
  private static final Pattern MODULE = Pattern.compile("<module>modules/([a-z-]+)</module>");

  private static final Pattern LISTED = Pattern.compile("  ([a-z-]+(, [a-z-]+)*)");

  /** A test scope in the POM of a program takes a library of lower modules off its class path. */
  @ParameterizedTest
  @ValueSource(strings = {"cli", "benchmarks", "real"})
  void testScopes_ofAProgram_areNoLibrariesThatOtherModulesRunWith(String program)
      throws IOException {
    List<String> needed = new ArrayList<>();
    for (String module : modules()) {
      dependencies(module)
          .filter(dependency -> !dependency.contains("<scope>test</scope>"))
          .forEach(dependency -> needed.addAll(artifacts(dependency)));
    }

    assertThat(needed).contains("snakeyaml", "troupe-engine-toy");
    assertThat(
            dependencies(program)
                .filter(dependency -> dependency.contains("<scope>test</scope>"))
                .filter(dependency -> !dependency.contains("<type>test-jar</type>"))
                .flatMap(dependency -> artifacts(dependency).stream()))
        .doesNotContainAnyElementsOf(needed);
  }

  @Test
  void picture_everyModule_usesModulesOfLowerRowsOnly() throws IOException {
    Map<String, Integer> rows = rows();
    List<String> modules = modules();

    assertThat(rows.keySet()).containsExactlyInAnyOrderElementsOf(modules);
    for (String module : modules) {
      for (String used : uses(module)) {
        assertThat(rows.get(used)).as("%s uses %s", module, used).isGreaterThan(rows.get(module));
      }
    }
  }

  @Test
  void listOfReadme_everyModule_usesModulesAboveItOnly() throws IOException {
    List<String> listed = listed();

    assertThat(listed).containsExactlyInAnyOrderElementsOf(modules());
    for (String module : listed) {
      assertThat(listed.subList(0, listed.indexOf(module)))
          .as("above %s", module)
          .containsAll(uses(module));
    }
  }

  /** The modules of the tree in README.md, from above. */
  private static List<String> listed() throws IOException {
    return Files.readAllLines(ROOT.resolve("README.md")).stream()
        .dropWhile(line -> !line.startsWith("modules/"))
        .takeWhile(line -> !line.startsWith("conf/"))
        .map(LISTED::matcher)
        .filter(Matcher::lookingAt)
        .flatMap(found -> Stream.of(found.group(1).split(", ", -1)))
        .filter(module -> !module.equals("testkit"))
        .toList();
  }

  /** The row of each module in the picture, counted from the top. */
  private static Map<String, Integer> rows() throws IOException {
    Map<String, Integer> rows = new HashMap<>();
    int row = 0;
    for (String line : Files.readAllLines(ROOT.resolve("docs/overview.md"))) {
      if (line.matches("├─ .+")) {
        row++;
      } else if (line.matches("│ +│ .+│")) {
        for (String module : line.replace("│", "").split("·", -1)) {
          assertThat(rows.put(module.strip(), row)).as(module).isNull();
        }
      }
    }
    return rows;
  }

  /** All modules but the test tools. */
  private static List<String> modules() throws IOException {
    return MODULE
        .matcher(Files.readString(ROOT.resolve("pom.xml")))
        .results()
        .map(found -> found.group(1))
        .filter(module -> !module.equals("testkit"))
        .toList();
  }

  /** The modules of Troupe that the main code of a module depends on. */
  private static List<String> uses(String module) throws IOException {
    return dependencies(module)
        .filter(dependency -> !dependency.contains("<scope>test</scope>"))
        .flatMap(dependency -> artifacts(dependency).stream())
        .filter(artifact -> artifact.startsWith("troupe-"))
        .map(artifact -> artifact.substring("troupe-".length()))
        .toList();
  }

  private static Stream<String> dependencies(String module) throws IOException {
    String pom = Files.readString(ROOT.resolve("modules").resolve(module).resolve("pom.xml"));
    return DEPENDENCY.matcher(pom).results().map(found -> found.group(1));
  }

  private static List<String> artifacts(String dependency) {
    return ARTIFACT.matcher(dependency).results().map(found -> found.group(1)).toList();
  }
}
