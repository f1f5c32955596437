package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The picture of the modules in docs/overview.md agrees with the dependencies in their POMs. */
class OverviewTest {
  private static final Path ROOT = Path.of("../..");
  private static final Pattern DEPENDENCY =
      Pattern.compile("<dependency>(.*?)</dependency>", Pattern.DOTALL);
  private static final Pattern ARTIFACT =
      Pattern.compile("<artifactId>troupe-([a-z-]+)</artifactId>");
  private static final Pattern MODULE = Pattern.compile("<module>modules/([a-z-]+)</module>");

  @Test
  void picture_everyModule_usesModulesOfLowerRowsOnly() throws IOException {
    Map<String, Integer> rows = rows();
    List<String> modules =
        MODULE
            .matcher(Files.readString(ROOT.resolve("pom.xml")))
            .results()
            .map(found -> found.group(1))
            .filter(module -> !module.equals("testkit"))
            .toList();

    assertThat(rows.keySet()).containsExactlyInAnyOrderElementsOf(modules);
    for (String module : modules) {
      for (String used : uses(module)) {
        assertThat(rows.get(used)).as("%s uses %s", module, used).isGreaterThan(rows.get(module));
      }
    }
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

  /** The modules of Troupe that the main code of a module depends on. */
  private static List<String> uses(String module) throws IOException {
    List<String> uses = new ArrayList<>();
    String pom = Files.readString(ROOT.resolve("modules").resolve(module).resolve("pom.xml"));
    DEPENDENCY
        .matcher(pom)
        .results()
        .map(found -> found.group(1))
        .filter(dependency -> !dependency.contains("<scope>test</scope>"))
        .forEach(
            dependency ->
                ARTIFACT.matcher(dependency).results().forEach(used -> uses.add(used.group(1))));
    return uses;
  }
}
