package io.troupe.engine.http.protocol;

import io.troupe.engine.protocol.VersionSpan;
import java.util.List;
import java.util.OptionalInt;

/**
 * What one message of a server adds to one completion.
 *
 * @param index which completion of the request
 * @param tokens ids
 * @param logProbs as the server gave them, one a token when all is well; NaN where it gave none
 * @param versions what it said of the weights; empty where it says nothing
 * @param finish the end, or {@link ServerFinishReason#OPEN}
 * @param prompt the prompt as the server understood it; empty where it does not tell
 * @param whole whether tokens are all there are so far, not those since the message before
 * @param drawn how many tokens the server says it has drawn for the completion so far
 * @param model what the server calls what drew it; empty where it does not tell
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record CompletionChunk(
    int index,
    int[] tokens,
    double[] logProbs,
    List<VersionSpan> versions,
    ServerFinishReason finish,
    int[] prompt,
    boolean whole,
    OptionalInt drawn,
    String model) {
  public CompletionChunk {
    versions = List.copyOf(versions);
  }
}
