package io.troupe.console.process;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The processes of a run, as far as they can be asked; each answers for itself. */
public interface JvmInspector {
  /**
   * Returns the reports of all processes, the own one first; processes that do not answer in time
   * are left out.
   */
  CompletionStage<List<JvmReport>> reports();

  /**
   * The stacks of the threads of a process.
   *
   * @param jvm name of the process; "" for the own one
   * @return fails with a {@link NotThereException} if there is no such process
   */
  CompletionStage<String> threads(String jvm);

  /**
   * Samples the stacks of a process, to show where its time goes.
   *
   * @param jvm name of the process; "" for the own one
   * @return fails with a {@link NotThereException} if there is no such process, or if it cannot
   *     sample now
   */
  CompletionStage<FlameFrame> flame(String jvm, Duration time);

  /** A process that is not there, or does not do what it is asked; says why. */
  final class NotThereException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** With a sentence for the operator. */
    public NotThereException(String sentence) {
      super(sentence);
    }

    /** The sentence. */
    public String sentence() {
      return String.valueOf(getMessage());
    }
  }
}
