package io.troupe.verifiers.instructions;

import io.troupe.verifiers.python.PythonValue;
import io.troupe.verifiers.python.PythonValue.Bool;
import java.util.Arrays;
import java.util.List;

/**
 * A completion under one instruction.
 *
 * @param kwargs as JSON
 */
record Case(
    InstructionFamily family,
    String id,
    String kwargs,
    String completion,
    boolean strict,
    boolean loose) {
  static List<Case> all() {
    return GoldenFile.lines(Case.class, "cases.jsonl").stream().map(Case::of).toList();
  }

  private static Case of(PythonValue line) {
    String family = GoldenFile.text(line, "family");
    return new Case(
        Arrays.stream(InstructionFamily.values())
            .filter(f -> f.word().equals(family))
            .findFirst()
            .orElseThrow(),
        GoldenFile.text(line, "id"),
        Json.of(line.get("kwargs").orElseThrow()),
        GoldenFile.text(line, "completion"),
        line.get("strict").orElseThrow().equals(new Bool(true)),
        line.get("loose").orElseThrow().equals(new Bool(true)));
  }

  /** The prompt's answer in the form the family reads. */
  String label() {
    return switch (family) {
      case IFEVAL, IFBENCH ->
          "{\"instruction_id_list\":[%s],\"kwargs\":[%s]}".formatted(Json.quoted(id), kwargs);
      case IF_MULTI ->
          "[{\"instruction_id\":[%s],\"kwargs\":[%s]}]".formatted(Json.quoted(id), kwargs);
      case RLVR_IFEVAL -> "{\"func_name\":%s,\"args\":%s}".formatted(Json.quoted(id), kwargs);
    };
  }
}
