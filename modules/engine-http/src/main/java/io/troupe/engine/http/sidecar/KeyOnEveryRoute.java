package io.troupe.engine.http.sidecar;

import io.troupe.base.files.AtomicFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A middleware for vLLM that asks for the server's key on every route. vLLM itself asks below
 * {@code /v1} only; by its development routes every user of the host could replace the weights, and
 * call methods of its workers.
 */
public final class KeyOnEveryRoute {
  private static final String FILE = "troupe_key.py";
  private static final String PATH = "PYTHONPATH";

  private KeyOnEveryRoute() {}

  /**
   * A command of vLLM with the middleware.
   *
   * @param folder folder into which the middleware is written; only this user may write there
   * @param environment of this process
   */
  public static ServerCommand on(ServerCommand vllm, Path folder, Map<String, String> environment) {
    List<String> words = new ArrayList<>(vllm.words());
    words.addAll(List.of("--middleware", "troupe_key.KeyOnEveryRoute"));
    String others = environment.getOrDefault(PATH, "");
    String path = write(folder).toAbsolutePath() + (others.isEmpty() ? "" : ":" + others);
    return new ServerCommand(words, vllm.environment(), vllm.keyVariable()).with(PATH, path);
  }

  private static Path write(Path folder) {
    try (InputStream source =
        Objects.requireNonNull(KeyOnEveryRoute.class.getResourceAsStream(FILE), FILE)) {
      Files.createDirectories(folder);
      AtomicFile.replace(folder.resolve(FILE), source.readAllBytes());
      return folder;
    } catch (IOException unwritten) {
      throw new UncheckedIOException("cannot write %s/%s".formatted(folder, FILE), unwritten);
    }
  }
}
