package io.troupe.engine.djl.torch;

/** Weights that a method of the program can take. */
public interface ProgramWeights {
  /** The weights in the program's order. */
  TorchValue all();
}
