package io.troupe.app.console;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.console.ConsoleServer;
import io.troupe.console.Tokens;
import io.troupe.store.RunFolder;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * {@code console.json} in a run's folder: where its console answers and what opens it. Only its
 * owner can read it.
 */
record ConsoleFile(URI url, String operatorToken, long pid) {
  private static final String NAME = "console.json";
  private static final ObjectMapper JSON = JsonMapper.builder().build();

  static void write(RunFolder folder, ConsoleServer server, Tokens tokens) throws IOException {
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("url", server.address().toString());
    content.put("pid", ProcessHandle.current().pid());
    content.put("operator_token", tokens.operator());
    content.put("reader_token", tokens.reader());
    Path file = folder.path().resolve(NAME);
    Files.deleteIfExists(file);
    // Made with its permissions, so that it is never open to others, not for a moment.
    if (Files.getFileStore(folder.path()).supportsFileAttributeView("posix")) {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
    Files.write(file, JSON.writeValueAsBytes(content));
  }

  static void delete(RunFolder folder) throws IOException {
    Files.deleteIfExists(folder.path().resolve(NAME));
  }

  /** That of a run whose process is there. */
  static Optional<ConsoleFile> read(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    if (!Files.isRegularFile(file)) {
      return Optional.empty();
    }
    Map<String, Object> content = JSON.readValue(file.toFile(), new TypeReference<>() {});
    long pid = ((Number) content.getOrDefault("pid", 0)).longValue();
    return ProcessHandle.of(pid)
        .filter(ProcessHandle::isAlive)
        .map(
            _ ->
                new ConsoleFile(
                    URI.create(String.valueOf(content.get("url"))),
                    String.valueOf(content.get("operator_token")),
                    pid));
  }

  /** Keeps the secret out of logs. */
  @Override
  public String toString() {
    return "ConsoleFile[" + url + "]";
  }
}
