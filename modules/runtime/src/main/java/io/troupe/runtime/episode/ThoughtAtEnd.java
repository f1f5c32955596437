package io.troupe.runtime.episode;

import io.troupe.core.prompt.OpenThought;
import io.troupe.engine.Tokenizer;
import java.util.Arrays;

/**
 * Whether the ids of a request end inside a thought. Only what follows their last special token is
 * read, those that mark thoughts aside: results of tools and users' texts before it may have the
 * tags of a thought.
 */
final class ThoughtAtEnd {
  private ThoughtAtEnd() {}

  static boolean isOpen(int[] request, Tokenizer tokenizer) {
    int from = request.length;
    while (from > 0 && isRead(request[from - 1], tokenizer)) {
      from--;
    }
    return OpenThought.endsInside(
        tokenizer.decode(Arrays.copyOfRange(request, from, request.length)));
  }

  private static boolean isRead(int token, Tokenizer tokenizer) {
    return tokenizer.bytes(token).length > 0 && !tokenizer.endIds().contains(token);
  }
}
