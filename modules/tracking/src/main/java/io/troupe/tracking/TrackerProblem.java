package io.troupe.tracking;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.store.file.FormatVersions;
import io.troupe.store.file.StoreJson;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The reason why a tracker is behind its run: {@code tracking/NAME-problem.json}, which exists as
 * long as the tracker fails. By this file the run's process shows what the process that sends has
 * met.
 *
 * @param format of the file
 * @param step the last one that the tracker has; -1 before the first
 * @param reason of the last failure
 */
public record TrackerProblem(int format, long step, String reason) {
  private static final int FORMAT = 1;

  TrackerProblem(long step, String reason) {
    this(FORMAT, step, reason);
  }

  /** Returns the problem of a tracker of a run; nothing when it works. */
  public static Optional<TrackerProblem> read(RunFolder folder, TrackerKind kind)
      throws IOException {
    Path file = file(folder, kind);
    try {
      JsonNode json = StoreJson.LINE.readTree(Files.readAllBytes(file));
      FormatVersions.check(file, json, FORMAT, "delete it; the next failure writes it again");
      return Optional.of(StoreJson.LINE.treeToValue(json, TrackerProblem.class));
    } catch (NoSuchFileException works) {
      return Optional.empty();
    }
  }

  void write(Path file) throws IOException {
    AtomicFile.replace(file, StoreJson.PRETTY.writeValueAsBytes(this));
  }

  static Path file(RunFolder folder, TrackerKind kind) {
    return folder.path().resolve(RunTracking.FOLDER).resolve(kind.label() + "-problem.json");
  }
}
