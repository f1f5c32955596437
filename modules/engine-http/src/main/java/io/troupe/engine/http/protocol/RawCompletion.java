package io.troupe.engine.http.protocol;

import io.troupe.engine.protocol.VersionSpan;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * One completion as a server gave it, before any check.
 *
 * @param tokens ids
 * @param logProbs NaN where the server gave none
 * @param versions in the order told
 * @param finish {@link ServerFinishReason#OPEN} if the server never said
 * @param prompt as the server echoed it, or empty
 * @param counted how many tokens the server says it drew
 * @param model what the server calls what drew it; empty where it does not tell
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record RawCompletion(
    int[] tokens,
    double[] logProbs,
    List<VersionSpan> versions,
    ServerFinishReason finish,
    int[] prompt,
    OptionalInt counted,
    String model) {
  /** Of a server that does not tell what drew it. */
  public RawCompletion(
      int[] tokens,
      double[] logProbs,
      List<VersionSpan> versions,
      ServerFinishReason finish,
      int[] prompt,
      OptionalInt counted) {
    this(tokens, logProbs, versions, finish, prompt, counted, "");
  }

  public RawCompletion {
    versions = List.copyOf(versions);
  }

  /**
   * As far as the first of some ids, which ends it. Of a server that could not be told them: what a
   * policy draws up to a token does not depend on what is drawn after it.
   */
  public RawCompletion firstTokens(Set<Integer> ends) {
    int length = 0;
    while (length < tokens.length && !ends.contains(tokens[length])) {
      length++;
    }
    int kept = length + 1;
    boolean whole =
        logProbs.length == tokens.length && counted.orElse(tokens.length) == tokens.length;
    if (kept >= tokens.length || !whole) {
      return this;
    }
    List<VersionSpan> spans =
        versions.stream()
            .filter(span -> span.start() < kept)
            .map(span -> new VersionSpan(span.tag(), span.start(), Math.min(span.end(), kept)))
            .toList();
    return new RawCompletion(
        Arrays.copyOf(tokens, kept),
        Arrays.copyOf(logProbs, kept),
        spans,
        ServerFinishReason.STOP,
        prompt,
        OptionalInt.empty(),
        model);
  }

  /** The same, when nothing more will come of it. */
  public RawCompletion cut() {
    return finish == ServerFinishReason.OPEN
        ? new RawCompletion(
            tokens, logProbs, versions, ServerFinishReason.ABORTED, prompt, counted, model)
        : this;
  }
}
