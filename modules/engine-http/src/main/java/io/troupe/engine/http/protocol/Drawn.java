package io.troupe.engine.http.protocol;

import java.util.List;
import java.util.OptionalInt;

/**
 * One completion as a server gave it, before any check.
 *
 * @param tokens ids
 * @param logProbs NaN where the server gave none
 * @param versions in the order told
 * @param finish {@link Finish#OPEN} if the server never said
 * @param prompt as the server echoed it, or empty
 * @param counted how many tokens the server says it drew
 * @param model what the server calls what drew it; empty where it does not tell
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Drawn(
    int[] tokens,
    double[] logProbs,
    List<VersionSpan> versions,
    Finish finish,
    int[] prompt,
    OptionalInt counted,
    String model) {
  /** Of a server that does not tell what drew it. */
  public Drawn(
      int[] tokens,
      double[] logProbs,
      List<VersionSpan> versions,
      Finish finish,
      int[] prompt,
      OptionalInt counted) {
    this(tokens, logProbs, versions, finish, prompt, counted, "");
  }

  public Drawn {
    versions = List.copyOf(versions);
  }

  /** The same, when nothing more will come of it. */
  public Drawn cut() {
    return finish == Finish.OPEN
        ? new Drawn(tokens, logProbs, versions, Finish.ABORTED, prompt, counted, model)
        : this;
  }
}
