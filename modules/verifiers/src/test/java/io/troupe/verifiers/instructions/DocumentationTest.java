package io.troupe.verifiers.instructions;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The tables of docs/verifiers.md name each instruction once, in its family's section. */
class DocumentationTest {
  private static final Pattern ROW =
      Pattern.compile("\\| `([^`]+)` \\| .* \\| (exact|approximate) \\|");

  @Test
  void tables_idsOfAFamily_areThoseThatExist() throws IOException {
    Map<Family, List<String>> documented = documented();
    List<String> ifEval = ids(Family.IFEVAL);
    List<String> ifMulti = new ArrayList<>(ids(Family.IF_MULTI));
    ifMulti.removeAll(ifEval); // that section says: and all of ifeval

    assertThat(documented.get(Family.IFEVAL)).containsExactlyInAnyOrderElementsOf(ifEval);
    assertThat(documented.get(Family.IFBENCH))
        .containsExactlyInAnyOrderElementsOf(ids(Family.IFBENCH));
    assertThat(documented.get(Family.IF_MULTI)).containsExactlyInAnyOrderElementsOf(ifMulti);
    assertThat(documented.get(Family.RLVR_IFEVAL))
        .containsExactlyInAnyOrderElementsOf(ids(Family.RLVR_IFEVAL));
  }

  private static List<String> ids(Family family) {
    return family.instructions().stream().map(Instruction::id).toList();
  }

  private static Map<Family, List<String>> documented() throws IOException {
    Map<Family, List<String>> ids = new EnumMap<>(Family.class);
    List<String> section = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of("../../docs/verifiers.md"))) {
      if (line.startsWith("#")) {
        section = new ArrayList<>();
        for (Family family : Family.values()) {
          if (line.matches("### " + family.word() + "( .*)?")) {
            ids.put(family, section);
          }
        }
      }
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        section.add(row.group(1));
      }
    }
    return ids;
  }
}
