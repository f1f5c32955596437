package io.troupe.engine.http;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.Tokenizer;
import java.util.Arrays;
import java.util.List;

/** Ends a completion where its stop string is complete: servers may draw on for a token or two. */
final class StopCut {
  private StopCut() {}

  /** Tokens after the one that completed a stop string are no part of the completion. */
  static Completion of(Completion completion, List<String> stops, Tokenizer tokenizer) {
    if (stops.isEmpty()) {
      return completion;
    }
    StopMatcher matcher = new StopMatcher(stops);
    for (int i = 0; i < completion.length(); i++) {
      if (matcher.endsWith(tokenizer.bytes(completion.tokens()[i]))) {
        return head(completion, i + 1);
      }
    }
    return completion;
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
