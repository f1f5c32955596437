package io.troupe.verifiers.instructions;

import io.troupe.verifiers.instructions.InstructionArguments.BadArgumentException;

/** The relation of a count to the number that an instruction names. */
enum CountRelation {
  LESS_THAN("less than"),
  AT_LEAST("at least");

  private final String words;

  CountRelation(String words) {
    this.words = words;
  }

  /** The relation as data names it. */
  static CountRelation named(String words) {
    for (CountRelation relation : values()) {
      if (relation.words.equals(words)) {
        return relation;
      }
    }
    throw new BadArgumentException("a relation is less than or at least, not " + words);
  }

  boolean holds(long count, double number) {
    return switch (this) {
      case LESS_THAN -> count < number;
      case AT_LEAST -> count >= number;
    };
  }
}
