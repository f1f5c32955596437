package io.troupe.evaluation;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * The sampler of an evaluation's prompts: an engine of this process, servers, or a cluster's
 * workers.
 */
public interface AnswerSource extends AutoCloseable {
  /**
   * Starts to sample.
   *
   * @return one stage a question, in order: its answers, or why there are none
   */
  List<CompletionStage<List<Answer>>> answer(List<Question> questions);

  /**
   * Returns the number of chunks of questions that the source takes at a time at present: more than
   * one where many sample.
   */
  default int chunksAtOnce() {
    return 1;
  }

  /**
   * Returns the source for the prompts of a task: this one, unless the tasks are answered
   * differently.
   */
  default AnswerSource forTask(EvaluationTask task) {
    return this;
  }

  /** Ends all sampling; open questions fail. */
  @Override
  void close();
}
