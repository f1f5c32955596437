package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.engine.protocol.VersionSpan;
import java.util.List;
import java.util.OptionalInt;

/**
 * The part of one completion that one message of a server adds.
 *
 * @param index index of the completion in the request
 * @param tokens ids
 * @param logProbs log-probabilities as the server sent them, one for each token of a sound answer;
 *     NaN where the server sent none
 * @param versions the reported weight versions; empty without a report
 * @param finish the end, or {@link ServerFinishReason#OPEN}
 * @param prompt the prompt as the server understood it; empty if the server does not report it
 * @param whole whether tokens are all tokens so far, not only the tokens since the last message
 * @param sampled number of tokens that the server reports to have sampled for the completion so far
 * @param model the server's name for the model that sampled; empty if the server does not report it
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
    OptionalInt sampled,
    String model) {
  public CompletionChunk {
    versions = List.copyOf(versions);
  }

  /** One of the choices of a message of vLLM, whose tokens are those since the last message. */
  static CompletionChunk ofChoice(
      JsonNode message, JsonNode choice, int[] tokens, double[] logProbs, int[] prompt)
      throws MalformedResponseException {
    return new CompletionChunk(
        choice.path("index").asInt(0),
        tokens,
        logProbs,
        JsonFields.spans(choice.path("weight_versions")),
        ServerFinishReason.of(JsonFields.text(choice.path("finish_reason"))),
        prompt,
        false,
        OptionalInt.empty(),
        JsonFields.text(message.path("model")));
  }
}
