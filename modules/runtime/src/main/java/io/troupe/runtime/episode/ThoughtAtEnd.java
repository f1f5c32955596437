package io.troupe.runtime.episode;

import io.troupe.core.prompt.OpenThought;
import io.troupe.engine.Tokenizer;
import java.util.Arrays;

/**
 * Whether the ids of a request end inside a thought. Only what follows their last special token is
 * read: results of tools and users' texts before it may have the tags of a thought.
 */
final class ThoughtAtEnd {
  private ThoughtAtEnd() {}

  static boolean isOpen(int[] request, Tokenizer tokenizer) {
    int from = request.length;
    while (from > 0 && !tokenizer.isSpecial(request[from - 1])) {
      from--;
    }
    return OpenThought.endsInside(
        tokenizer.decode(Arrays.copyOfRange(request, from, request.length)));
  }
}
