package io.troupe.run.hook;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.store.file.FormatVersions;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The steps up to which hooks have run: {@code hooks/state.json}, replaced after each.
 *
 * @param format of the file
 * @param checkpoint the last step whose checkpoint's hook has ended; -1 before the first
 * @param evaluation the last step whose evaluation's hook has ended; -1 before the first
 */
record HookCursor(int format, long checkpoint, long evaluation) {
  private static final int FORMAT = 1;

  static HookCursor read(Path file) throws IOException {
    if (!Files.exists(file)) {
      return new HookCursor(FORMAT, -1, -1);
    }
    JsonNode json = StoreJson.LINE.readTree(Files.readAllBytes(file));
    FormatVersions.check(file, json, FORMAT, "delete it, and hooks run again for what there is");
    return StoreJson.LINE.treeToValue(json, HookCursor.class);
  }

  void write(Path file) throws IOException {
    AtomicFile.replace(file, StoreJson.PRETTY.writeValueAsBytes(this));
  }

  HookCursor afterCheckpoint(long step) {
    return new HookCursor(format, Math.max(checkpoint, step), evaluation);
  }

  HookCursor afterEvaluation(long step) {
    return new HookCursor(format, checkpoint, Math.max(evaluation, step));
  }
}
