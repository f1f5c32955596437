package io.troupe.engine.http.protocol;

import io.troupe.engine.protocol.VersionSpan;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * One completion as a server sent it, before any check.
 *
 * @param tokens ids
 * @param logProbs NaN where the server sent none
 * @param versions in the reported order
 * @param finish {@link ServerFinishReason#OPEN} if the server reported no end
 * @param prompt as the server echoed it, or empty
 * @param counted number of tokens that the server reports to have sampled
 * @param model the server's name for the model that sampled; empty if the server does not report it
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
  /** A completion of a server that does not report its model. */
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
   * The tokens up to and with the first of the given ids, which ends the completion. For servers
   * whose requests cannot name these ids: the tokens that a policy samples up to an id do not
   * depend on the tokens after it.
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

  /** This completion, marked as cut because nothing more will arrive. */
  public RawCompletion cut() {
    return finish == ServerFinishReason.OPEN
        ? new RawCompletion(
            tokens, logProbs, versions, ServerFinishReason.ABORTED, prompt, counted, model)
        : this;
  }
}
