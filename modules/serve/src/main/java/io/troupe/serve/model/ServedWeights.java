package io.troupe.serve.model;

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
 * The weights with which a server samples, and the names under which clients know them. Updates run
 * one at a time, and a version is named before any token of it can be sampled.
 */
public final class ServedWeights {
  /** The name of a server's weights before a client names them. */
  static final String UNNAMED = "default";

  /** Versions whose names are kept: more than one request can span. */
  static final int MOST_NAMES = 1024;

  private final SamplingEngine engine;
  private final ScoringEngine scorer;
  private final boolean keeps;
  private final boolean awaited;
  private final ConcurrentNavigableMap<Long, String> tags = new ConcurrentSkipListMap<>();
  private volatile Optional<WeightVersion> current = Optional.empty();
  private volatile Optional<WeightSnapshot> kept = Optional.empty();

  /**
   * The weights of an engine that has none yet.
   *
   * @param keeps whether the weights stay in memory beside the engine's copy, for {@link #kept}
   * @param awaited whether the first weights are on their way
   */
  public ServedWeights(
      SamplingEngine engine, ScoringEngine scorer, boolean keeps, boolean awaited) {
    this.engine = engine;
    this.scorer = scorer;
    this.keeps = keeps;
    this.awaited = awaited;
  }

  /** Whether the first weights are on their way and not in use yet. */
  public boolean coming() {
    return awaited && current.isEmpty();
  }

  /** The weights in use as they were loaded, if this server keeps them. */
  public Optional<WeightSnapshot> kept() {
    return kept;
  }

  /** The version in use; empty before the first weights. */
  public Optional<WeightVersion> current() {
    return current;
  }

  /** The name of the weights in use. */
  public String currentTag() {
    return current.map(version -> tag(version.number())).orElse(UNNAMED);
  }

  /** The name of a version; {@code default} for one that is not remembered. */
  public String tag(long version) {
    return tags.getOrDefault(version, UNNAMED);
  }

  /**
   * Reads a directory and moves the engine to its weights at the next token.
   *
   * @param tag the clients' name for these weights; a tag of Troupe holds their digest, which is
   *     compared
   * @return the name of the weights from now on
   * @throws IOException if the directory cannot be read, or its weights differ from the tag's
   *     digest
   */
  public synchronized String load(Path directory, String tag) throws IOException {
    if (keeps) { // a merge may still read the previous weights
      return load(directory, tag, StoredTensor::loaded);
    }
    // Not an arena of the garbage collector: the arena's objects are so small on the heap that no
    // collection may run.
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

  /**
   * Moves the engine to weights in memory.
   *
   * @return the name of the weights from now on
   * @throws IOException if they are older than the weights in use, or do not fit the engine
   */
  public synchronized String use(WeightSnapshot snapshot, String tag) throws IOException {
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
   * Reads a directory's tensors as float32 into their own memory.
   *
   * @throws IOException if the tensors cannot be read
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
