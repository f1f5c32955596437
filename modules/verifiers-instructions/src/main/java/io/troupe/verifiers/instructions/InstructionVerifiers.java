package io.troupe.verifiers.instructions;

import io.troupe.core.reward.JudgedBy;
import io.troupe.verifiers.BuiltInVerifier;
import io.troupe.verifiers.Isolation;
import io.troupe.verifiers.VerifierFamily;
import io.troupe.verifiers.VerifierProvider;
import java.util.List;

/** The verifiers of instructions that a program can check. */
public final class InstructionVerifiers implements VerifierFamily {
  private static final JudgedBy INSTRUCTIONS =
      new JudgedBy.NamedFields("instruction_id_list", "instruction_id", "kwargs", "prompt");

  /** The name of a function, and all arguments that functions have. */
  private static final JudgedBy FUNCTION =
      new JudgedBy.NamedFields(
          "func_name",
          "args",
          "N",
          "i",
          "end_phrase",
          "first_word",
          "forbidden_words",
          "keyword_list",
          "language",
          "letter",
          "options",
          "original_prompt",
          "postscript_marker",
          "quantifier",
          "section_splitter",
          "word");

  @Override
  public List<VerifierProvider> providers() {
    return List.of(
        verifier(InstructionFamily.IFEVAL, "all of IFEval's instructions in the prompt, strictly"),
        verifier(
            InstructionFamily.IFBENCH, "all of IFBench's instructions in the prompt, strictly"),
        verifier(
            InstructionFamily.IF_MULTI, "the share of a prompt's instructions that is followed"),
        verifier(InstructionFamily.RLVR_IFEVAL, "the one instruction of a prompt of RLVR-IFeval"));
  }

  private static VerifierProvider verifier(InstructionFamily family, String summary) {
    return new BuiltInVerifier(
        family.word(),
        summary,
        family == InstructionFamily.RLVR_IFEVAL ? FUNCTION : INSTRUCTIONS,
        Isolation.PROCESS,
        options -> new InstructionVerifier(family));
  }
}
