package io.troupe.serve;

import io.troupe.base.failure.Causes;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;

/**
 * The weights that a server draws with, and the names that its clients know them by. One update at
 * a time; the name of a version is known before a token of it can be.
 */
public final class ServedWeights {
  /** What a server calls its weights before it was told a name. */
  static final String UNNAMED = "default";

  /** Versions whose names are known: more than one request sees. */
  static final int MOST_NAMES = 1024;

  private final SamplingEngine engine;
  private final ScoringEngine scorer;
  private final boolean keeps;
  private final boolean awaited;
  private final ConcurrentNavigableMap<Long, String> tags = new ConcurrentSkipListMap<>();
  private volatile Optional<WeightVersion> current = Optional.empty();
  private volatile Optional<WeightSnapshot> kept = Optional.empty();

  /**
   * Of an engine without weights.
   *
   * @param keeps whether they stay in memory beside the engine's, for {@link #kept}
   * @param awaited whether the first are on their way
   */
  ServedWeights(SamplingEngine engine, ScoringEngine scorer, boolean keeps, boolean awaited) {
    this.engine = engine;
    this.scorer = scorer;
    this.keeps = keeps;
    this.awaited = awaited;
  }

  /** Whether the first are on their way, and not in use yet. */
  boolean coming() {
    return awaited && current.isEmpty();
  }

  /** The weights in use, as they were given, where they are kept. */
  Optional<WeightSnapshot> kept() {
    return kept;
  }

  Optional<WeightVersion> current() {
    return current;
  }

  /** The name of the weights in use. */
  String currentTag() {
    return current.map(version -> tag(version.number())).orElse(UNNAMED);
  }

  String tag(long version) {
    return tags.getOrDefault(version, UNNAMED);
  }

  /**
   * Reads a directory and moves the engine to it at the next token.
   *
   * @param tag what clients call these weights; one of ours holds their digest, which is compared
   * @return the name they have from now on
   * @throws IOException if the directory cannot be read, or holds other weights than the tag says
   */
  synchronized String load(Path directory, String tag) throws IOException {
    if (keeps) { // and a merge may still read those before
      return load(directory, tag, StoredTensor::loaded);
    }
    // Not left to a collection of the heap: it holds so little of them that there may be none.
    try (Arena memory = Arena.ofShared()) {
      return load(directory, tag, tensor -> tensor.loaded(memory));
    }
  }

  private String load(
      Path directory, String tag, Function<StoredTensor, WeightSnapshot.Tensor> loaded)
      throws IOException {
    Optional<WeightTag> ours = WeightTag.parse(tag);
    WeightVersion version =
        ours.map(WeightTag::version)
            .orElseGet(() -> current.map(WeightVersion::next).orElse(WeightVersion.BASE));
    WeightSnapshot snapshot = read(directory, version, loaded);
    if (ours.isPresent() && !snapshot.digest().startsWith(ours.get().digest())) {
      throw new IOException(
          "%s holds weights with the digest %s, not those of %s"
              .formatted(directory, snapshot.digest().substring(0, 16), tag));
    }
    return use(snapshot, tag.isEmpty() ? WeightTag.of(version, snapshot.digest()).toString() : tag);
  }

  /** Moves the engine to weights that are in memory. */
  synchronized String use(WeightSnapshot snapshot, String tag) throws IOException {
    long number = snapshot.version().number();
    if (current.isPresent() && current.get().number() > number) {
      throw new IOException(
          "%s are older than the weights in use, %s; weights only move forward"
              .formatted(tag, currentTag()));
    }
    Optional<String> before = Optional.ofNullable(tags.put(number, tag));
    try {
      engine.load(snapshot).toCompletableFuture().join();
    } catch (CompletionException unfit) {
      before.ifPresentOrElse(old -> tags.put(number, old), () -> tags.remove(number));
      Throwable cause = Causes.of(unfit);
      throw new IOException(
          "the engine does not take %s: %s".formatted(tag, cause.getMessage()), cause);
    }
    scorer.load(snapshot);
    kept = Optional.of(snapshot).filter(_ -> keeps);
    current = Optional.of(snapshot.version());
    while (tags.size() > MOST_NAMES) {
      tags.pollFirstEntry();
    }
    return tag;
  }

  /**
   * A directory's tensors, as float32, in memory of their own.
   *
   * @throws IOException if they cannot be read
   */
  public static WeightSnapshot read(Path directory, WeightVersion version) throws IOException {
    return read(directory, version, StoredTensor::loaded);
  }

  private static WeightSnapshot read(
      Path directory, WeightVersion version, Function<StoredTensor, WeightSnapshot.Tensor> loaded)
      throws IOException {
    try (Arena files = Arena.ofConfined()) {
      Map<String, StoredTensor> stored = new TreeMap<>(ModelFiles.map(directory, files).tensors());
      List<WeightSnapshot.Tensor> tensors = new ArrayList<>();
      for (StoredTensor tensor : stored.values()) {
        tensors.add(loaded.apply(tensor));
      }
      return new WeightSnapshot(version, TensorDigest.of(tensors), tensors);
    }
  }
}
