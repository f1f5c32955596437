package io.troupe.engine.parallel;

/** A part of the state that ranks hold by piece. */
public enum StatePart {
  /** The trained weights. */
  WEIGHTS,
  /** Both of AdamW's moments. */
  MOMENTS
}
