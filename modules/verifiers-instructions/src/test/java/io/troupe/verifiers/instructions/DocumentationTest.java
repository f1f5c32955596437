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
    Map<InstructionFamily, List<String>> documented = documented();
    List<String> ifEval = ids(InstructionFamily.IFEVAL);
    List<String> ifMulti = new ArrayList<>(ids(InstructionFamily.IF_MULTI));
    ifMulti.removeAll(ifEval); // that section says: and all of ifeval

    assertThat(documented.get(InstructionFamily.IFEVAL))
        .containsExactlyInAnyOrderElementsOf(ifEval);
    assertThat(documented.get(InstructionFamily.IFBENCH))
        .containsExactlyInAnyOrderElementsOf(ids(InstructionFamily.IFBENCH));
    assertThat(documented.get(InstructionFamily.IF_MULTI))
        .containsExactlyInAnyOrderElementsOf(ifMulti);
    assertThat(documented.get(InstructionFamily.RLVR_IFEVAL))
        .containsExactlyInAnyOrderElementsOf(ids(InstructionFamily.RLVR_IFEVAL));
  }

  private static List<String> ids(InstructionFamily family) {
    return family.instructions().stream().map(Instruction::id).toList();
  }

  private static Map<InstructionFamily, List<String>> documented() throws IOException {
    Map<InstructionFamily, List<String>> ids = new EnumMap<>(InstructionFamily.class);
    List<String> section = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of("../../docs/verifiers.md"))) {
      if (line.startsWith("#")) {
        section = new ArrayList<>();
        for (InstructionFamily family : InstructionFamily.values()) {
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
