package io.troupe.cli.copy;

import io.troupe.store.folder.RunFolder;
import io.troupe.store.objects.ObjectStore;
import io.troupe.store.s3.S3Address;
import io.troupe.sync.RunDownload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Finds the folder in which a run continues that is named by its copy on S3. */
public final class CopiedRun {
  private CopiedRun() {}

  /**
   * The run folder: downloaded with its newest checkpoint, or the one that is there if it has all
   * of the copy.
   *
   * @param run a place on S3, a folder or a name; the last two are returned as they are
   * @param root of run folders
   * @throws IOException if a folder is there that is not the copy's, or the download fails
   */
  public static String local(String run, Path root, CopyOptions s3, Consumer<String> say)
      throws IOException {
    if (!S3Address.isOne(run)) {
      return run;
    }
    String target = CopyOptions.folder(run);
    try (ObjectStore store = s3.open(target)) {
      RunDownload download = new RunDownload(store, target, say);
      RunDownload.Summary there =
          download.summary().orElseThrow(() -> new IOException(target + " holds no copy of a run"));
      Path folder = root.resolve(there.run());
      if (!Files.exists(folder)) {
        return download.into(root, RunDownload.Checkpoints.NEWEST).toString();
      }
      if (RunDownload.hasAll(RunFolder.open(root, there.run()), target, there)) {
        say.accept("%s has all of the copy already".formatted(folder));
        return folder.toString();
      }
      throw new IOException(
          ("%s is there and is not what %s was written from last; resume it by its folder, or move"
                  + " it away")
              .formatted(folder, target));
    }
  }
}
