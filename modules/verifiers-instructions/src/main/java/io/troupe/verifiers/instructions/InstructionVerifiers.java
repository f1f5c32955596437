package io.troupe.verifiers.instructions;

import io.troupe.verifiers.BuiltInVerifier;
import io.troupe.verifiers.Isolation;
import io.troupe.verifiers.VerifierFamily;
import io.troupe.verifiers.VerifierProvider;
import java.util.List;

/** The verifiers of instructions that a program can check. */
public final class InstructionVerifiers implements VerifierFamily {
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
        family.word(), summary, Isolation.PROCESS, options -> new InstructionVerifier(family));
  }
}
