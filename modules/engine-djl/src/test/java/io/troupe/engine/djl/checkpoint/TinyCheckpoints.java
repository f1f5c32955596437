package io.troupe.engine.djl.checkpoint;

import io.troupe.base.files.FileTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** The checkpoints that {@code src/test/python/tiny_checkpoints.py} made. */
public final class TinyCheckpoints {
  public static final String QWEN3 = "qwen3-tied";
  static final String QWEN2 = "qwen2-bfloat16";
  static final String LLAMA3 = "llama3-shards";
  public static final List<String> ALL =
      List.of(QWEN3, "qwen3-untied-yarn", QWEN2, LLAMA3, "llama-linear-float16");

  private TinyCheckpoints() {}

  public static Path directory(String name) {
    return resource("parity/" + name);
  }

  /** A checkpoint that {@code src/test/python/saved_checkpoints.py} made with transformers. */
  static Path saved(String family) {
    return resource("saved/" + family);
  }

  private static Path resource(String name) {
    try {
      return Path.of(
          Objects.requireNonNull(
                  TinyCheckpoints.class.getResource("/io/troupe/engine/djl/" + name), name)
              .toURI());
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  public static PretrainedModel open(String name) {
    try {
      return PretrainedModel.open(directory(name));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** A copy to be damaged. */
  static Path copy(String name, Path target) throws IOException {
    copyOf(directory(name), target);
    return target;
  }

  /** Copies the files of a folder, and of folders in it. */
  static void copyOf(Path folder, Path target) throws IOException {
    for (Path file : FileTree.files(folder)) {
      Path copy = target.resolve(folder.relativize(file).toString());
      Files.createDirectories(copy.resolveSibling("."));
      Files.copy(file, copy);
    }
  }
}
