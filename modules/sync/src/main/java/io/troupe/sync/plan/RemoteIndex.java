package io.troupe.sync.plan;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The content of a run's copy: {@code index.json}, the one object of a copy that is ever replaced.
 *
 * <p><b>Whole by order.</b> An index is stored after everything that it names, and an object is
 * deleted after the last index that named it. So whichever index a reader finds, all of it is
 * there.
 *
 * @param format 1
 * @param run name of the run
 * @param writer the run folder that writes this copy, as a random word; another one takes it over
 *     by writing its own
 * @param revision grows by one with each index
 */
public record RemoteIndex(
    int format,
    String run,
    String writer,
    long revision,
    List<RemoteFile> files,
    List<RemoteCheckpoint> checkpoints) {
  public static final String KEY = "index.json";
  static final int FORMAT = 1;

  public RemoteIndex {
    require(
        format == FORMAT,
        "an index of format %d, and this version reads %d; use the version that wrote it",
        format,
        FORMAT);
    files = List.copyOf(files);
    checkpoints = List.copyOf(checkpoints);
  }

  /** The index of a copy that holds nothing yet. */
  public static RemoteIndex empty(String run) {
    return new RemoteIndex(FORMAT, run, "", 0, List.of(), List.of());
  }

  public static RemoteIndex parse(byte[] json, String where) throws IOException {
    try {
      return StoreJson.LINE.readValue(json, RemoteIndex.class);
    } catch (JsonProcessingException other) {
      throw new IOException(
          "%s is no index of a run's copy: %s".formatted(where, other.getOriginalMessage()), other);
    }
  }

  public byte[] json() {
    try {
      return StoreJson.LINE.writeValueAsBytes(this);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException("records of texts and numbers are JSON", impossible);
    }
  }

  /** Returns the checkpoint of the greatest step. */
  public Optional<RemoteCheckpoint> newest() {
    return checkpoints.stream().max(Comparator.comparingLong(RemoteCheckpoint::step));
  }

  /** Whether two indexes name the same, by the same writer. */
  boolean saysTheSame(RemoteIndex other) {
    return writer.equals(other.writer)
        && files.equals(other.files)
        && checkpoints.equals(other.checkpoints);
  }

  /** Keys of all pieces, and folders of all checkpoints. */
  public Set<String> keys() {
    Set<String> keys = new LinkedHashSet<>();
    files.forEach(file -> file.addKeys(keys));
    checkpoints.forEach(one -> keys.add(one.folder()));
    return keys;
  }

  /** Returns the number of bytes of all objects that the index names. */
  public long bytes() {
    return files.stream().mapToLong(RemoteFile::bytes).sum()
        + checkpoints.stream().mapToLong(RemoteCheckpoint::bytes).sum();
  }
}
