package io.troupe.evaluation;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** What samples the prompts of an evaluation: an engine of this process, or servers. */
public interface AnswerSource extends AutoCloseable {
  /**
   * Starts to sample.
   *
   * @return one stage a question, in order: its answers, or why there are none
   */
  List<CompletionStage<List<Answer>>> answer(List<Question> questions);

  /** What samples the prompts of a task: the same, unless the tasks are answered differently. */
  default AnswerSource forTask(EvaluationTask task) {
    return this;
  }

  /** Ends all sampling; open questions fail. */
  @Override
  void close();
}
