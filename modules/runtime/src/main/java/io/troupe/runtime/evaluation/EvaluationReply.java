package io.troupe.runtime.evaluation;

import io.troupe.core.completion.Completion;
import io.troupe.runtime.WireMessage;
import java.util.List;

/**
 * A worker's reply about a chunk, or a part of it, that it was asked for. Each reply has the number
 * of its request.
 */
public sealed interface EvaluationReply extends WireMessage {
  long number();

  /**
   * Completions of one request, the next ones in order.
   *
   * @param digest of the weights that sampled them
   */
  record Sampled(long number, int request, List<Completion> completions, String digest)
      implements EvaluationReply {
    public Sampled {
      completions = List.copyOf(completions);
    }
  }

  /** No engine of this kind could take a request. */
  record Unanswerable(long number, int request, String reason) implements EvaluationReply {}

  /** The chunk is in work. */
  record Working(long number) implements EvaluationReply {}

  /** Another process has a chunk sampled here. */
  record Busy(long number) implements EvaluationReply {}

  /** The chunk failed here, and may succeed later. */
  record Failed(long number, String reason) implements EvaluationReply {}

  /** No part of the evaluation can be sampled here. */
  record Refused(long number, String reason) implements EvaluationReply {}
}
