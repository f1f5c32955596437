package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.run.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules that the sources of all modules keep, beside those of {@link LayeringTest}. */
class SourceRulesTest {
  private static final Path MODULES = Path.of("..", "..", "modules");

  /** Names of test tools: a program that knows them behaves differently under test. */
  private static final List<String> TEST_TOOLS = List.of("surefire", "junit");

  /** Files of a package; more of them are two packages. */
  private static final int MOST_FILES = 20;

  private static final String PACKAGE_INFO = "package-info.java";

  /** The module whose product are tests. */
  private static final String TESTKIT = "testkit";

  @Test
  void mainCode_allModules_knowsNoTestTool() throws IOException {
    assertThat(linesWithTestTools(MODULES)).isEmpty();
  }

  @Test
  void simpleNames_allModules_areUnique() throws IOException {
    assertThat(sharedNames(MODULES)).isEmpty();
  }

  @Test
  void packages_allModules_areSmallRooms() throws IOException {
    assertThat(largePackages(MODULES)).isEmpty();
  }

  @Test
  void journalEvents_allModules_areListedWhereTheyAreDecidedFoldedAuditedAndDescribed()
      throws IOException {
    // A new event is added to Event and to the first three, one that only informs to Coordination
    // alone; EventText shows it as a record until it has a sentence. Views fold over its kind.
    assertThat(listsOfEvents(MODULES))
        .containsExactly(
            "core/src/main/java/io/troupe/core/audit/Audit.java",
            "core/src/main/java/io/troupe/core/run/Coordination.java",
            "core/src/main/java/io/troupe/core/run/RunState.java",
            "telemetry/src/main/java/io/troupe/telemetry/view/EventText.java");
  }

  /** The launcher's build skips tests, and then no module makes its fixtures. */
  @Test
  void poms_fixturesOfOtherModules_areNeededOnlyWhereTestsAreCompiled() throws IOException {
    List<String> always = new ArrayList<>();
    try (Stream<Path> modules = Files.list(MODULES)) {
      for (Path pom : modules.map(each -> each.resolve("pom.xml")).toList()) {
        String text = Files.exists(pom) ? Files.readString(pom) : "";
        if (text.split("<profiles>", 2)[0].contains("<type>test-jar</type>")) {
          always.add(pom.toString());
        }
      }
    }
    assertThat(always).isEmpty();
  }

  @Test
  void sources_allModules_areFound() throws IOException {
    assertThat(sources(MODULES))
        .contains(
            MODULES.resolve("core/src/main/java/io/troupe/core/Require.java"),
            MODULES.resolve("cli/src/main/java/io/troupe/cli/Main.java"));
  }

  @Test
  void rules_sourcesThatBreakThem_nameThem(@TempDir Path modules) throws IOException {
    write(modules, "one/src/main/java/a/Same.java", "class Same {}");
    write(modules, "two/src/main/java/b/Same.java", "class Same { String s = \"SureFire\"; }");
    write(modules, "two/src/main/java/b/Other.java", "class Other {}");
    write(modules, "two/src/test/java/b/Other.java", "import org.junit.Test;");
    write(modules, "testkit/src/main/java/c/Kit.java", "import org.junit.Test;");
    for (int i = 0; i <= MOST_FILES; i++) {
      write(modules, "two/src/main/java/c/Of%d.java".formatted(i), "");
    }
    assertThat(sharedNames(modules)).containsExactly("Same");
    assertThat(largePackages(modules)).containsExactly("two/src/main/java/c: 21 files");
    assertThat(linesWithTestTools(modules))
        .containsExactly("two/src/main/java/b/Same.java: class Same { String s = \"SureFire\"; }");
  }

  private static void write(Path modules, String file, String text) throws IOException {
    Path target = modules.resolve(file);
    Files.createDirectories(target.resolveSibling("."));
    Files.writeString(target, text);
  }

  private static List<String> linesWithTestTools(Path modules) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path file : sources(modules)) {
      if (!modules.relativize(file).startsWith(TESTKIT)) {
        for (String line : Files.readAllLines(file)) {
          String lower = line.toLowerCase(Locale.ROOT);
          if (TEST_TOOLS.stream().anyMatch(lower::contains)) {
            lines.add("%s: %s".formatted(modules.relativize(file), line.strip()));
          }
        }
      }
    }
    return lines;
  }

  /** Files that name two thirds of the events of the journal, or more. */
  private static List<String> listsOfEvents(Path modules) throws IOException {
    List<String> lists = new ArrayList<>();
    int events = Event.class.getPermittedSubclasses().length;
    for (Path file : sources(modules)) {
      String text = Files.readString(file);
      long named =
          Stream.of(Event.class.getPermittedSubclasses())
              .filter(type -> text.contains("Event." + type.getSimpleName()))
              .count();
      if (3 * named >= 2L * events) {
        lists.add(modules.relativize(file).toString());
      }
    }
    return lists;
  }

  private static Set<String> sharedNames(Path modules) throws IOException {
    Map<String, Integer> files = new TreeMap<>();
    for (Path file : sources(modules)) {
      files.merge(file.getFileName().toString().replace(".java", ""), 1, Integer::sum);
    }
    files.remove("package-info");
    Set<String> shared = new TreeSet<>();
    files.forEach(
        (name, count) -> {
          if (count > 1) {
            shared.add(name);
          }
        });
    return shared;
  }

  private static List<String> largePackages(Path modules) throws IOException {
    Map<Path, Integer> files = new TreeMap<>();
    for (Path file : sources(modules)) {
      if (!file.endsWith(PACKAGE_INFO)) {
        files.merge(modules.relativize(file.resolveSibling("")), 1, Integer::sum);
      }
    }
    return files.entrySet().stream()
        .filter(each -> each.getValue() > MOST_FILES)
        .map(each -> "%s: %d files".formatted(each.getKey(), each.getValue()))
        .toList();
  }

  /** The main sources of all modules; a top-level type has a file of its name. */
  private static List<Path> sources(Path modules) throws IOException {
    List<Path> sources = new ArrayList<>();
    try (Stream<Path> all = Files.list(modules)) {
      for (Path module : all.sorted().toList()) {
        Path main = module.resolve("src").resolve("main").resolve("java");
        if (Files.isDirectory(main)) {
          try (Stream<Path> files = Files.walk(main)) {
            files.filter(file -> file.toString().endsWith(".java")).sorted().forEach(sources::add);
          }
        }
      }
    }
    return sources;
  }
}
