package io.troupe.soak;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Pattern;

/** The files of a soaked run: its configuration, and the programs that judge and ask. */
final class SoakFiles {
  /** The line that agents have another policy for. */
  private static final Pattern POLICY = Pattern.compile("(?m)^policy: .*\\R");

  private SoakFiles() {}

  /**
   * Writes all into a folder, and returns the path of the configuration.
   *
   * @param agents of each worker, in sandboxes; 0 where an episode is an answer
   */
  static Path write(Path folder, String configuration, int agents) throws IOException {
    Path verifier = program(folder, "verifier.py");
    String text = resource(configuration).replace("VERIFIER", verifier.toString());
    String whole =
        agents > 0
            ? POLICY
                .matcher(text)
                .replaceFirst("")
                .replace("EPISODE\n", episode(folder, agents) + "\n")
            : text.replace("EPISODE\n", "");
    return Files.writeString(folder.resolve(configuration).toAbsolutePath(), whole);
  }

  /** In a folder of its own, which is all that an agent can read. */
  private static String episode(Path folder, int count) throws IOException {
    Path agents = Files.createDirectories(folder.resolve("agents").toAbsolutePath());
    return resource("episode.yaml")
        .replace("AGENT", program(agents, "agent.py").toString())
        .replace("FOLDER", agents.toString())
        .replace("COUNT", Integer.toString(count));
  }

  private static Path program(Path folder, String name) throws IOException {
    return Files.writeString(folder.resolve(name).toAbsolutePath(), resource(name));
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = Objects.requireNonNull(Soak.class.getResourceAsStream(name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
