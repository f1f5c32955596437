package io.troupe.environments.container;

import io.troupe.base.files.FileTree;
import io.troupe.base.hash.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.List;

/** The source of a container's files. */
public sealed interface ContainerImage {
  /** An image of the engine's, which is never pulled. */
  record Named(String name) implements ContainerImage {}

  /** The image of a folder with a Dockerfile, built once for its content. */
  record Built(Path folder, Duration limit) implements ContainerImage {}

  /**
   * Returns the name of the image, which the engine then has.
   *
   * @throws ContainerException if it has none and can build none; says why
   */
  default String ensure(ContainerEngine engine) throws IOException {
    return switch (this) {
      case Named(String name) -> {
        if (isMissing(engine, name)) {
          throw new ContainerException(
              "the container engine has no image %s, and tasks pull none; pull it on every host: docker pull %s"
                  .formatted(name, name));
        }
        yield name;
      }
      case Built(Path folder, Duration limit) -> build(engine, folder, limit);
    };
  }

  private static String build(ContainerEngine engine, Path folder, Duration limit)
      throws IOException {
    String name = "troupe-task:" + digest(folder).substring(0, 32);
    synchronized (engine) {
      if (isMissing(engine, name)) {
        engine.call(
            List.of("build", "--tag", name, folder.toAbsolutePath().toString()),
            new byte[0],
            limit);
      }
    }
    return name;
  }

  private static boolean isMissing(ContainerEngine engine, String name) throws IOException {
    return engine.call("images", "--quiet", name).isBlank();
  }

  private static String digest(Path folder) throws IOException {
    MessageDigest digest = Sha256.digest();
    for (Path file : FileTree.files(folder)) {
      String line =
          "%s %b %s\n"
              .formatted(folder.relativize(file), Files.isExecutable(file), Sha256.hex(file));
      digest.update(line.getBytes(StandardCharsets.UTF_8));
    }
    return Sha256.hex(digest);
  }
}
