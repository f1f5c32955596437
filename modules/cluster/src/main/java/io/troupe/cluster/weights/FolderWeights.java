package io.troupe.cluster.weights;

import io.troupe.base.files.AtomicFile;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.engine.weights.WeightMemory;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.WeightPublisher;
import io.troupe.runtime.weights.WeightSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Publishes weights through a folder that coordinator and workers share: one safetensors file per
 * version, which gets its final name only when it is complete. The newest two files are kept. A
 * worker that has mapped an older file keeps its bytes until it unmaps them, even if the name is
 * deleted.
 *
 * <p>The file's metadata contains the digest. A reader compares it and does not compute it again:
 * the coordinator wrote the file on the same host, or on a file system that both trust with the
 * journal.
 */
public final class FolderWeights implements WeightPublisher, WeightSource, AutoCloseable {
  private static final int KEPT = 2;
  private static final String DIGEST = "digest";
  private static final String ENDING = ".safetensors";

  private final Path folder;
  private final DType type;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("weights").daemon().factory());

  /**
   * Weights in a folder.
   *
   * @param folder created when the first weights are published
   */
  public FolderWeights(Path folder) {
    this(folder, DType.F32);
  }

  /**
   * Weights in a folder.
   *
   * @param folder created when the first weights are published
   * @param type of the numbers that this process writes; it reads any
   */
  public FolderWeights(Path folder, DType type) {
    this.folder = folder.toAbsolutePath();
    this.type = type;
  }

  @Override
  public CompletionStage<PublishedWeights> publish(WeightSnapshot weights) {
    return CompletableFuture.supplyAsync(() -> write(weights), thread);
  }

  private PublishedWeights write(WeightSnapshot weights) {
    try (Arena converted = Arena.ofShared()) {
      Files.createDirectories(folder);
      Path file = folder.resolve(name(weights.version()));
      AtomicFile.replace(
          file,
          beside ->
              SafetensorsFile.write(
                  beside,
                  StoredTensor.all(weights, type, converted),
                  Map.of(DIGEST, weights.digest())));
      prune(file);
      return new PublishedWeights(weights.version(), weights.digest(), file.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(
          "weights cannot be written to %s: %s".formatted(folder, e.getMessage()), e);
    }
  }

  /**
   * Orders files by time: names ascend with versions, but after a resume a newer file may have a
   * lower version.
   */
  private void prune(Path written) throws IOException {
    List<Path> others = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "v*" + ENDING)) {
      for (Path file : files) {
        if (!file.equals(written)) {
          others.add(file);
        }
      }
    }
    others.sort(Comparator.comparingLong(FolderWeights::changed).reversed());
    for (Path file : others.subList(Math.min(KEPT - 1, others.size()), others.size())) {
      Files.deleteIfExists(file);
    }
  }

  private static long changed(Path file) {
    try {
      return Files.getLastModifiedTime(file).toMillis();
    } catch (IOException gone) {
      return 0;
    }
  }

  @Override
  public CompletionStage<WeightSnapshot> fetch(PublishedWeights published) {
    return CompletableFuture.supplyAsync(() -> read(published), thread);
  }

  private static WeightSnapshot read(PublishedWeights published) {
    Path file = Path.of(published.place());
    try {
      SafetensorsFile stored = SafetensorsFile.map(file, WeightMemory.arena(Files.size(file)));
      String digest = stored.metadata().getOrDefault(DIGEST, "none");
      if (!digest.equals(published.digest())) {
        throw new IOException(
            "%s has digest %s, and %s was published with %s"
                .formatted(file, digest, published.version(), published.digest()));
      }
      return new WeightSnapshot(
          published.version(),
          digest,
          stored.tensors().values().stream()
              .sorted(Comparator.comparing(StoredTensor::name))
              .map(StoredTensor::snapshot)
              .toList());
    } catch (NoSuchFileException gone) {
      throw new UncheckedIOException(
          "%s is gone: newer weights replaced it, or this host does not see the run folder"
              .formatted(file),
          gone);
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  private static String name(WeightVersion version) {
    return "v%09d%s".formatted(version.number(), ENDING);
  }

  @Override
  public void close() {
    thread.close();
  }
}
