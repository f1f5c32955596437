package io.troupe.engine.djl.checkpoint;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The checkpoints that {@code src/test/python/tiny_checkpoints.py} made. */
public final class TinyCheckpoints {
  public static final String QWEN3 = "qwen3-tied";
  static final String QWEN2 = "qwen2-bfloat16";
  static final String LLAMA3 = "llama3-shards";
  public static final List<String> ALL =
      List.of(QWEN3, "qwen3-untied-yarn", QWEN2, LLAMA3, "llama-linear-float16");

  private TinyCheckpoints() {}

  public static Path directory(String name) {
    try {
      return Path.of(
          Objects.requireNonNull(
                  TinyCheckpoints.class.getResource("/io/troupe/engine/djl/parity/" + name), name)
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
    try (Stream<Path> files = Files.list(directory(name))) {
      for (Path file : files.toList()) {
        Files.copy(file, target.resolve(file.getFileName().toString()));
      }
    }
    return target;
  }
}
