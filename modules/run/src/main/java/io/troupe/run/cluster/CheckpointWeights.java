package io.troupe.run.cluster;

import io.troupe.cluster.weights.NetworkWeightSource;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.net.link.ListenAddress;
import io.troupe.net.secret.RunSecret;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.evaluation.EvaluationWeightSource;
import io.troupe.runtime.evaluation.UnfitWeightsException;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.serve.model.ServedWeights;
import io.troupe.store.file.MachineMemory;
import io.troupe.weights.cache.WeightCacheSettings;
import io.troupe.weights.transfer.NodeWeights;
import io.troupe.weights.transfer.TransferSettings;
import io.troupe.weights.transfer.WeightLocator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/**
 * Weights as a checkpoint of a run holds them: from the run's folder where this host sees it, else
 * from the process that evaluates them. Only weights of the expected digest are given.
 *
 * @param worker for whom they are fetched
 * @param disk folder for fetched weights that do not fit into memory
 * @param host of this worker, and how it connects
 */
public record CheckpointWeights(String worker, Path disk, ListenAddress host)
    implements EvaluationWeightSource {
  /** The copies of the weights: the one that is read or fetched, and the engine's. */
  private static final int COPIES = 2;

  @Override
  public CompletionStage<WeightSnapshot> fetch(EvaluatedWeights wanted) {
    CompletableFuture<CompletionStage<WeightSnapshot>> begun = new CompletableFuture<>();
    Thread.ofPlatform()
        .name("checkpoint-reader")
        .daemon()
        .start(
            () -> {
              try {
                begun.complete(read(wanted));
              } catch (IOException | RuntimeException | Error failure) {
                begun.completeExceptionally(new CompletionException(failure));
              }
            });
    return begun.thenCompose(weights -> weights);
  }

  private CompletionStage<WeightSnapshot> read(EvaluatedWeights wanted) throws IOException {
    PublishedWeights weights = wanted.weights();
    Path folder = Path.of(weights.place());
    Optional<String> objection = objection(folder);
    if (objection.isEmpty()) {
      WeightSnapshot snapshot = ServedWeights.read(folder, weights.version());
      if (snapshot.digest().equals(weights.digest())) {
        return CompletableFuture.completedFuture(snapshot);
      }
      objection =
          Optional.of(
              "the tensors in %s have digest %s, and those of digest %s are evaluated"
                  .formatted(folder, snapshot.digest(), weights.digest()));
    }
    if (wanted.server().isEmpty()) {
      throw new UnfitWeightsException(objection.get());
    }
    return fetched(wanted);
  }

  private static Optional<String> objection(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return Optional.of("%s is not there".formatted(folder));
    }
    try (Arena files = Arena.ofConfined()) {
      requireMemory(
          ModelFiles.map(folder, files).tensors().values().stream()
              .map(StoredTensor::shape)
              .mapToLong(shape -> shape.stream().reduce((long) Float.BYTES, Math::multiplyExact))
              .sum());
      return Optional.empty();
    }
  }

  /** The files go once they are mapped: the mapping keeps their bytes. */
  private CompletionStage<WeightSnapshot> fetched(EvaluatedWeights wanted) throws IOException {
    PublishedWeights weights = wanted.weights();
    requireMemory(WeightLocator.parse(weights.version(), wanted.server()).ref().bytes());
    NodeWeights cache =
        NodeWeights.open(
            WeightCacheSettings.usual(
                "%s-%s-evaluation-%d"
                    .formatted(wanted.run(), worker, ProcessHandle.current().pid()),
                disk),
            host.endpoint(),
            host.socket(),
            RunSecret.of(wanted.secret()),
            TransferSettings.usual());
    return new NetworkWeightSource(cache, Optional.empty())
        .fetch(new PublishedWeights(weights.version(), weights.digest(), wanted.server()))
        .whenComplete((_, _) -> delete(cache));
  }

  private static void delete(NodeWeights cache) {
    try {
      cache.delete();
    } catch (IOException stays) {
      throw new UncheckedIOException(stays);
    }
  }

  private static void requireMemory(long bytes) throws IOException {
    long needed = COPIES * bytes;
    long available = MachineMemory.available().orElse(Long.MAX_VALUE);
    if (needed > available) {
      throw new IOException(
          "an engine for the evaluation takes %d MiB of memory, and %d MiB are available"
              .formatted(needed >> 20, available >> 20));
    }
  }
}
