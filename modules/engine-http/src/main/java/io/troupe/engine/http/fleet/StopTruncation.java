package io.troupe.engine.http.fleet;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.protocol.PartialCompletion;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Ends a completion where its stop string is complete: a server may sample a token or two more, and
 * does not recognise a stop string that began before the part that it was asked to continue.
 *
 * @param stops texts that end a completion
 */
record StopTruncation(List<String> stops, Tokenizer tokenizer) {
  /** Returns the completion without the tokens after the one that completed a stop string. */
  Completion of(Completion completion) {
    OptionalInt end = end(completion.tokens());
    return end.isPresent() ? head(completion, end.getAsInt()) : completion;
  }

  /** The completion, if a stop string ended it before it was cut. */
  Optional<Completion> ended(PartialCompletion cut) {
    OptionalInt end = end(cut.tokens());
    return end.isPresent()
        ? Optional.of(cut.ended(end.getAsInt(), FinishReason.STOP_STRING))
        : Optional.empty();
  }

  /** Returns the number of tokens up to the one that completes a stop string. */
  private OptionalInt end(int[] tokens) {
    if (!stops.isEmpty()) {
      StopMatcher matcher = new StopMatcher(stops);
      for (int i = 0; i < tokens.length; i++) {
        if (matcher.endsWith(tokenizer.bytes(tokens[i]))) {
          return OptionalInt.of(i + 1);
        }
      }
    }
    return OptionalInt.empty();
  }

  private static Completion head(Completion completion, int tokens) {
    long[] versions = new long[tokens];
    int at = 0;
    for (TokenVersions.Span span : completion.versions().spans()) {
      int end = Math.min(tokens, at + span.tokens());
      Arrays.fill(versions, Math.min(at, end), end, span.version().number());
      at += span.tokens();
    }
    return new Completion(
        Arrays.copyOf(completion.tokens(), tokens),
        Arrays.copyOf(completion.logProbs(), tokens),
        TokenVersions.of(versions),
        FinishReason.STOP_STRING);
  }
}
