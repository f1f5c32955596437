package io.troupe.engine.http.probe;

/** The form in which servers get each version of the weights. */
public enum PublishedWeightForm {
  /** The server gets all weights, with trained adapters merged in. */
  MERGED,
  /** The adapters alone; the server loads them beside its base. */
  ADAPTERS
}
