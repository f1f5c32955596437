package io.troupe.verifiers.instructions;

import io.troupe.verifiers.instructions.InstructionArguments.BadArgumentException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Sets of instructions that are checked and scored by one benchmark's rules. */
public enum InstructionFamily {
  /** 25 instructions; the reward is 1 if all are followed. */
  IFEVAL("ifeval"),
  /** 58 instructions out of IFEval's domain; the reward is 1 if all are followed. */
  IFBENCH("ifbench"),
  /** IFEval's and 29 more, for training; the reward is the share that is followed. */
  IF_MULTI("if-multi"),
  /** One function a prompt, for training; the reward is 1 if it holds. */
  RLVR_IFEVAL("rlvr-ifeval");

  private final String word;

  InstructionFamily(String word) {
    this.word = word;
  }

  /** The verifier's name in configurations and on the command line. */
  public String word() {
    return word;
  }

  /** The instructions in the order of the documentation. */
  List<Instruction> instructions() {
    return switch (this) {
      case IFEVAL -> IfEvalInstructions.all();
      case IFBENCH -> IfBenchInstructions.all();
      case IF_MULTI -> IfMultiInstructions.all();
      case RLVR_IFEVAL -> RlvrInstructions.all();
    };
  }

  /** The instructions by family and id. */
  private static final class Index {
    private static final Map<InstructionFamily, Map<String, Instruction>> INSTRUCTIONS = index();

    private static Map<InstructionFamily, Map<String, Instruction>> index() {
      Map<InstructionFamily, Map<String, Instruction>> index =
          new EnumMap<>(InstructionFamily.class);
      for (InstructionFamily family : values()) {
        Map<String, Instruction> byId = new HashMap<>();
        family.instructions().forEach(instruction -> byId.put(instruction.id(), instruction));
        index.put(family, byId);
      }
      return index;
    }
  }

  /**
   * The instruction of an id.
   *
   * @throws BadArgumentException if there is none
   */
  Instruction instruction(String id) {
    Map<String, Instruction> byId = Index.INSTRUCTIONS.getOrDefault(this, Map.of());
    Instruction found = byId.get(id);
    if (found == null) {
      throw new BadArgumentException("%s has no instruction of that name".formatted(word));
    }
    return found;
  }
}
