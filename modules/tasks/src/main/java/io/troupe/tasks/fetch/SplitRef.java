package io.troupe.tasks.fetch;

/**
 * A split of a published data set.
 *
 * @param name of the data set
 * @param repository on the hub, owner and name
 * @param subset configuration or folder within it; empty means the usual one, an asterisk all
 * @param split such as {@code train}
 */
public record SplitRef(String name, String repository, String subset, String split) {
  /**
   * Returns the folder of the split in the cache: one folder for each split, so that each split is
   * fetched by itself.
   */
  String folder() {
    String within =
        subset.isEmpty() || subset.equals(DataLayout.ALL)
            ? "all"
            : subset.replaceAll("[^A-Za-z0-9._-]+", "");
    return repository.replace("/", "--") + "/" + within + "/" + split;
  }

  @Override
  public String toString() {
    return "%s (%s, split %s)".formatted(name, repository, split);
  }
}
