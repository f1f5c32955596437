package io.troupe.aws.container;

import io.troupe.aws.client.OutageWait;
import io.troupe.base.clock.Surroundings;
import io.troupe.store.objects.ObjectStore;
import io.troupe.store.objects.ObjectStoreException;
import io.troupe.store.s3.S3Bucket;
import io.troupe.store.s3.S3Settings;
import io.troupe.sync.RunDownload;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The copies that earlier containers of a job left of its run. An outage of the store is waited
 * for; a store that refuses is not, since it refuses until a person mends it.
 *
 * @param assignments keys of the run's configuration that the job sets
 * @param patience longest absence of the store
 * @param stopping whether the container is to end
 */
record JobCopies(
    Map<String, String> assignments,
    Duration patience,
    Surroundings here,
    BooleanSupplier stopping) {
  /**
   * The newest copy with a checkpoint.
   *
   * @throws ObjectStoreException if the store refuses, or does not answer in time
   */
  Optional<String> newest() throws IOException, InterruptedException {
    String sync = assignments.getOrDefault(ContainerContract.SYNC, "");
    if (sync.isEmpty()) {
      return Optional.empty();
    }
    OutageWait outage = new OutageWait(here, patience);
    while (true) {
      try {
        return newestBelow(sync);
      } catch (ObjectStoreException failure) {
        boolean passing = failure.kind() == ObjectStoreException.Kind.UNAVAILABLE;
        if (!passing || stopping.getAsBoolean() || !outage.pause(failure)) {
          throw failure;
        }
      }
    }
  }

  private Optional<String> newestBelow(String sync) throws IOException {
    S3Settings settings =
        new S3Settings(
            assignments.getOrDefault("run.sync_endpoint", ""),
            assignments.getOrDefault("run.sync_region", ""),
            Boolean.parseBoolean(assignments.getOrDefault("run.sync_path_style", "false")));
    List<String> names;
    try (ObjectStore store = new S3Bucket(settings, sync)) {
      names = store.folders("").stream().sorted(Comparator.reverseOrder()).toList();
    }
    for (String name : names) {
      String place = "%s/%s".formatted(sync.replaceFirst("/+$", ""), name);
      try (ObjectStore store = new S3Bucket(settings, place)) {
        if (new RunDownload(store, place + "/", here::say)
            .summary()
            .filter(copy -> copy.step() >= 0)
            .isPresent()) {
          return Optional.of(place);
        }
      }
    }
    return Optional.empty();
  }
}
