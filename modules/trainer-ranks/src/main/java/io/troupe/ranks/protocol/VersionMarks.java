package io.troupe.ranks.protocol;

/**
 * Names of two versions, which ranks send their pieces of. A mark names one version of one group of
 * ranks and no other, so two processes that have a mark have the same numbers.
 *
 * @param base of the version that the coordinator has; one that nothing has, if it has none whole
 * @param next of the version that is to be sent
 */
public record VersionMarks(long base, long next) {
  /** Returns marks for the same version where the coordinator has no other one. */
  VersionMarks whole() {
    return new VersionMarks(~next, next);
  }
}
