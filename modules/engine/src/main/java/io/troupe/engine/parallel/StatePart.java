package io.troupe.engine.parallel;

/** A part of the state that ranks hold by piece. */
public enum StatePart {
  /** The trained weights, in float32. */
  WEIGHTS,
  /** The trained weights in bfloat16, rounded half to even, as a version publishes them. */
  BFLOAT16_WEIGHTS,
  /** Both of AdamW's moments, in float32. */
  MOMENTS
}
