package io.troupe.verifiers.python;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.instructions.GoldenFile;
import io.troupe.verifiers.python.PythonPattern.Flag;
import io.troupe.verifiers.python.PythonValue.Bool;
import io.troupe.verifiers.python.PythonValue.Items;
import io.troupe.verifiers.python.PythonValue.None;
import io.troupe.verifiers.python.PythonValue.Num;
import io.troupe.verifiers.python.PythonValue.Text;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Against Python 3.11; src/test/python/python_semantics.py wrote the file. */
class PythonParityTest {
  private static final List<PythonValue> LINES =
      GoldenFile.lines(PythonParityTest.class, "semantics.jsonl.gz");

  private static List<PythonValue> lines(String kind) {
    return LINES.stream().filter(line -> GoldenFile.text(line, "kind").equals(kind)).toList();
  }

  @Test
  void findAll_randomPatternsAndTexts_asPython() {
    int refusedHere = 0;
    for (PythonValue line : lines("pattern")) {
      Optional<PythonPattern> pattern = compiled(line);
      boolean valid = !(line.get("found").orElseThrow() instanceof None);
      if (pattern.isEmpty()) {
        refusedHere += valid ? 1 : 0;
        continue;
      }
      assertThat(valid).as("%s is a pattern", line).isTrue();
      List<String> expected = GoldenFile.texts(line, "found");
      List<String> found = pattern.get().findAll(GoldenFile.text(line, "text"));
      if (found.stream().anyMatch(String::isEmpty)) {
        found = found.subList(0, 1);
      }
      if (expected.stream().noneMatch(String::isEmpty) || expected.size() == 1) {
        assertThat(found).as("%s", line).isEqualTo(expected);
      }
    }
    assertThat(refusedHere).as("patterns only refused here: repeated places").isLessThan(600);
  }

  private static Optional<PythonPattern> compiled(PythonValue line) {
    int flags = (int) ((Num) line.get("flags").orElseThrow()).value();
    Flag[] set = flags == 2 ? new Flag[] {Flag.IGNORE_CASE} : new Flag[] {Flag.MULTILINE};
    try {
      return Optional.of(
          PythonPattern.compile(GoldenFile.text(line, "pattern"), flags == 0 ? new Flag[0] : set));
    } catch (InvalidPatternException e) {
      return Optional.empty();
    }
  }

  @Test
  void readers_randomValues_readWherePythonReads() {
    for (PythonValue line : lines("reader")) {
      String text = GoldenFile.text(line, "text");
      assertThat(PythonLiteralReader.json(text).isPresent())
          .as("json %s", line)
          .isEqualTo(isTrue(line, "json"));
      assertThat(PythonLiteralReader.literal(PythonText.strip(text)).isPresent())
          .as("literal %s", line)
          .isEqualTo(isTrue(line, "literal"));
    }
  }

  @Test
  void rows_randomTables_asPython() {
    for (PythonValue line : lines("csv")) {
      List<List<String>> expected =
          ((Items) line.get("rows").orElseThrow())
              .values().stream()
                  .map(
                      row ->
                          ((Items) row)
                              .values().stream().map(field -> ((Text) field).value()).toList())
                  .toList();
      assertThat(
              PythonCsv.rows(
                  GoldenFile.text(line, "text"), GoldenFile.text(line, "delimiter").charAt(0)))
          .as("%s", line)
          .contains(expected);
    }
  }

  @Test
  void text_randomCharacters_asPython() {
    for (PythonValue line : lines("text")) {
      String text = GoldenFile.text(line, "text");
      String what = line.toString();
      assertThat(PythonText.lower(text)).as(what).isEqualTo(GoldenFile.text(line, "lower"));
      assertThat(PythonText.upper(text)).as(what).isEqualTo(GoldenFile.text(line, "upper"));
      assertThat(PythonText.strip(text)).as(what).isEqualTo(GoldenFile.text(line, "strip"));
      assertThat(PythonText.split(text)).as(what).isEqualTo(GoldenFile.texts(line, "split"));
      assertThat(PythonText.words(text)).as(what).isEqualTo(GoldenFile.texts(line, "words"));
      assertThat(PythonText.isUpper(text)).as(what).isEqualTo(isTrue(line, "isupper"));
      assertThat(PythonText.isLower(text)).as(what).isEqualTo(isTrue(line, "islower"));
      assertThat(new Num(PythonText.length(text))).isEqualTo(line.get("length").orElseThrow());
    }
  }

  private static boolean isTrue(PythonValue line, String field) {
    return line.get(field).orElseThrow().equals(new Bool(true));
  }

  @Test
  void literal_exponentWithoutDigitsBeforeIt_isRefused() {
    for (String text : List.of("+E0", "-e5", "E1", ".e3", "+", ".")) {
      assertThat(PythonLiteralReader.literal(text)).as(text).isEmpty();
    }
    for (String text : List.of("5.e3", ".5", "1E0", "+1")) {
      assertThat(PythonLiteralReader.literal(text)).as(text).isPresent();
    }
  }
}
