package io.troupe.environments.harbor;

import io.troupe.environments.box.BoxContents;
import io.troupe.environments.box.BoxFile;
import io.troupe.environments.box.Submission;
import io.troupe.environments.box.TestBoxes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Grades what policies hand in, each in a box of its own that has run nothing of a policy's before:
 * the files of the task, what was handed in, and only then the tests.
 *
 * <p>Tests decide what they trust. A program that they start shares their user and can write where
 * they can, so that a reward counts only if nothing has outlived its parent, nothing has ended the
 * tests, and the reward files can still be written. Tests that load the policy's code into their
 * own process cannot be protected from it.
 */
public final class HarborGrader implements AutoCloseable {
  /** Files by which a test runner or an interpreter runs what lies beside the work. */
  private static final Set<String> PLANTED =
      Set.of(
          "conftest.py",
          "pytest.ini",
          "tox.ini",
          "setup.cfg",
          "sitecustomize.py",
          "usercustomize.py");

  private final TestBoxes boxes;

  /** Grades in these boxes, which it closes. */
  public HarborGrader(TestBoxes boxes) {
    this.boxes = boxes;
  }

  /**
   * Grades a submission. Blocks until the tests have ended, at most as long as the task allows.
   *
   * @throws io.troupe.environments.EnvironmentFailedException if no box can be started
   */
  public HarborReward grade(HarborTask task, Submission submission) {
    if (!submission.refused().isEmpty()) {
      return new HarborReward(0, submission.refused());
    }
    Optional<String> planted = planted(task, submission);
    if (planted.isPresent()) {
      return new HarborReward(0, planted.get());
    }
    TestBoxes.Graded graded = boxes.grade(contents(task, submission), task.limit());
    HarborReward reward =
        graded.faults().isEmpty()
            ? HarborReward.of(graded.rewards())
            : new HarborReward(0, String.join("; ", graded.faults()));
    return submission.left().isEmpty() || reward.reward() >= 1
        ? reward
        : new HarborReward(
            reward.reward(),
            Stream.concat(
                    Stream.of(reward.reason()).filter(each -> !each.isEmpty()),
                    submission.left().stream().limit(3).map(each -> "not handed in: " + each))
                .reduce((a, b) -> a + "; " + b)
                .orElseThrow());
  }

  private static Optional<String> planted(HarborTask task, Submission submission) {
    return submission.files().stream()
        .map(BoxFile::path)
        .filter(path -> !task.box().handedIn().contains(path))
        .filter(path -> !task.takes(path) || plants(path.substring(path.lastIndexOf('/') + 1)))
        .findFirst()
        .map(
            path ->
                task.takes(path)
                    ? "%s was handed in, which changes how tests run".formatted(path)
                    : "%s was handed in, which the task does not ask for".formatted(path));
  }

  private static boolean plants(String name) {
    return PLANTED.contains(name) || name.endsWith(".pth");
  }

  private static BoxContents contents(HarborTask task, Submission submission) {
    BoxContents begin = task.box().contents();
    List<BoxFile> files = new ArrayList<>(begin.files());
    files.removeIf(file -> submission.removed().contains(file.path()));
    files.addAll(submission.files());
    files.addAll(task.tests());
    List<String> folders = new ArrayList<>(begin.folders());
    folders.add(HarborTask.REWARDS);
    List<String> removed = submission.removed().stream().filter(task::takes).toList();
    return new BoxContents(begin.folder(), folders, files, task.variables(), removed, begin.root());
  }

  @Override
  public void close() {
    boxes.close();
  }
}
