package io.troupe.verifiers.code;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.box.Submission;
import io.troupe.environments.harbor.HarborException;
import io.troupe.environments.harbor.HarborGrader;
import io.troupe.environments.harbor.HarborReward;
import io.troupe.environments.harbor.HarborTask;
import io.troupe.verifiers.Verifier;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Runs the tests of the task folder that is the prompt's answer on what an episode has handed in.
 *
 * @param grader closed with the verifier
 */
record HarborVerifier(HarborGrader grader) implements Verifier {
  @Override
  public Verdict verify(Prompt prompt, String completion) {
    HarborTask task;
    try {
      task = HarborTask.read(Path.of(prompt.answer()));
    } catch (IOException | HarborException broken) {
      return new Verdict.Unverifiable(Verdict.Cause.BAD_INPUT, String.valueOf(broken.getMessage()));
    }
    Submission submission;
    try {
      submission = Submission.parse(completion);
    } catch (IllegalArgumentException words) {
      return new Verdict.Scored(0, "", "nothing was handed in but words");
    }
    try {
      HarborReward reward = grader.grade(task, submission);
      return new Verdict.Scored(
          reward.reward(),
          "%d files handed in".formatted(submission.files().size()),
          reward.reason().isEmpty() ? "the tests give " + reward.reward() : reward.reason());
    } catch (EnvironmentFailedException failure) {
      return new Verdict.Unverifiable(Verdict.Cause.CRASH, String.valueOf(failure.getMessage()));
    }
  }

  @Override
  public void close() {
    grader.close();
  }
}
