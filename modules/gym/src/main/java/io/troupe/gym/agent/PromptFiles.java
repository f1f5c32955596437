package io.troupe.gym.agent;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The prompts of agents: text files with places such as {@code {skill}}. A folder of the user's may
 * have other texts of the same names.
 *
 * @param own folder of the user; none if there is none
 */
public record PromptFiles(Optional<Path> own) {
  /** The files beside this class alone. */
  public static final PromptFiles SHIPPED = new PromptFiles(Optional.empty());

  /**
   * Returns the text of a file with its places filled.
   *
   * @throws IOException if the file cannot be read, or has a place without a value; names both
   */
  public String filled(String file, Map<String, String> values) throws IOException {
    String text = text(file);
    StringBuilder filled = new StringBuilder();
    int at = 0;
    for (int open = text.indexOf('{'); open >= 0; open = text.indexOf('{', at)) {
      int close = text.indexOf('}', open);
      String name = close < 0 ? "" : text.substring(open + 1, close);
      String value = values.get(name);
      if (value == null) {
        throw new IOException(
            "the prompt %s has the place {%s}, and there is no such value; there are %s"
                .formatted(
                    file, name, String.join(", ", values.keySet().stream().sorted().toList())));
      }
      filled.append(text, at, open).append(value);
      at = close + 1;
    }
    return filled.append(text.substring(at)).toString();
  }

  private String text(String file) throws IOException {
    if (own.isPresent()) {
      try {
        return Files.readString(own.get().resolve(file));
      } catch (NoSuchFileException shipped) {
        // The folder need not have all of them.
      }
    }
    try (InputStream in =
        Objects.requireNonNull(PromptFiles.class.getResourceAsStream(file), file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
