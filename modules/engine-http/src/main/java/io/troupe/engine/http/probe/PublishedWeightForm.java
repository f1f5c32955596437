package io.troupe.engine.http.probe;

/** What servers get of each version of the weights. */
public enum PublishedWeightForm {
  /** All weights; adapters, where some are trained, are merged in. */
  MERGED,
  /** The adapters alone, to be loaded beside the base that the server has. */
  ADAPTERS
}
