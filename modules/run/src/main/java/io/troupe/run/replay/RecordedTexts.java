package io.troupe.run.replay;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.Tokenizer;
import io.troupe.store.folder.RunFolder;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The texts of a run's traces, which show at which token a completion parts from the recorded one:
 * the journal has only its digest.
 */
record RecordedTexts(RunFolder folder, Tokenizer tokenizer) {
  /**
   * The comparison of a completion with a text.
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
    Optional<JsonNode> line = new RunTexts(folder).rollout(lease);
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
}
