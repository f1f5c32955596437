package io.troupe.serve.completion;

import java.time.Duration;
import java.util.Optional;

/**
 * The fields of each completion in the answer to a request, and the form in which it is sent.
 *
 * @param chat whether the answer is a message of a conversation
 * @param stream form in which tokens are sent as they are sampled; empty for one answer at the end
 * @param text whether the answer holds text and tokens by name, and not ids and numbers alone
 * @param logProbs whether the answer holds log-probabilities
 * @param tokenIds whether the answer holds token ids
 * @param idsAsTokens whether log-probabilities name tokens by id
 * @param keepStop whether the text keeps the stop string
 */
public record AnswerForm(
    boolean chat,
    Optional<Streaming> stream,
    boolean text,
    boolean logProbs,
    boolean tokenIds,
    boolean idsAsTokens,
    boolean keepStop) {
  /**
   * The form in which tokens are sent as they are sampled.
   *
   * @param interval time for which tokens are gathered before a message is sent
   * @param usage whether the stream ends with the counts
   */
  public record Streaming(Duration interval, boolean usage) {}
}
