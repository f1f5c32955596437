package io.troupe.engine.djl;

/** Weights that a method of the program can take. */
interface ProgramWeights {
  /** The weights in the program's order. */
  Value all();
}
