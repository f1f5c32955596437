package io.troupe.run.replay;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.Tokenizer;
import io.troupe.store.folder.RunFolder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The texts of a run's traces, which show at which token a completion parts from the recorded one:
 * the journal has only its digest.
 */
record RecordedTexts(RunFolder folder, Tokenizer tokenizer) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The newest file first. */
  private static final List<String> FILES = List.of("rollouts.jsonl", "rollouts.1.jsonl");

  /**
   * What a text says about a completion.
   *
   * @param token the first one that differs in its text
   * @param sentence the end of a sentence
   */
  record Compared(OptionalInt token, String sentence) {}

  static RecordedTexts of(RunFolder folder, Tokenizer tokenizer) {
    return new RecordedTexts(folder, tokenizer);
  }

  /** Compares tokens with the text that was recorded of a completion. */
  Compared compare(LeaseId lease, int completion, int[] tokens) {
    Optional<JsonNode> line = line(lease);
    if (line.isEmpty() || !line.get().path("completions").has(completion)) {
      return new Compared(OptionalInt.empty(), "; its recorded text is not in the traces");
    }
    String recorded = line.get().path("completions").get(completion).asText();
    for (int t = 0; t < tokens.length; t++) {
      String text = tokenizer.decode(Arrays.copyOf(tokens, t + 1));
      if (!recorded.startsWith(text) && !text.startsWith(recorded)) {
        return new Compared(
            OptionalInt.of(t), ": \"%s\", and recorded is \"%s\"".formatted(text, recorded));
      }
    }
    return new Compared(OptionalInt.empty(), "; as far as the texts show, the tokens are the same");
  }

  /** The line of a group's lease; empty where traces were not written, or are gone. */
  Optional<JsonNode> line(LeaseId lease) {
    String group = "\"group\":%d,".formatted(lease.group().number());
    String fence = "\"fence\":%d,".formatted(lease.fence());
    for (String name : FILES) {
      Path file = folder.traces().resolve(name);
      if (!Files.isReadable(file)) {
        continue;
      }
      try (BufferedReader lines = Files.newBufferedReader(file)) {
        Optional<String> found =
            lines.lines().filter(line -> line.contains(group) && line.contains(fence)).findFirst();
        if (found.isPresent()) {
          return Optional.of(JSON.readTree(found.get()));
        }
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    }
    return Optional.empty();
  }
}
