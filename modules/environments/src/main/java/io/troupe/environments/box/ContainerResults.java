package io.troupe.environments.box;

import io.troupe.environments.container.Container;
import io.troupe.environments.container.Container.Content;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The files that an episode or the tests of a submission leave in a container, read once it is
 * killed.
 */
record ContainerResults(Container container, BoxSettings settings) {
  private static final Duration READING = Duration.ofSeconds(60);
  private static final int MOST_REWARD = 1 << 20;
  private static final String REWARDS = "/logs/verifier";
  private static final int LAST_SIGNAL = 64;
  private static final String TESTS =
      "if command -v bash >/dev/null; then exec bash /tests/test.sh; fi; exec sh /tests/test.sh";

  /** Ends all that runs, and reads what is handed in. */
  Submission submission(BoxTask task) throws IOException {
    try {
      container.requireRunning();
      container.kill();
      Map<String, Character> changed = container.changes().changed();
      Map<String, BoxFile> found = new LinkedHashMap<>();
      List<String> left = new ArrayList<>();
      int room = Submission.MOST_BYTES;
      for (String root : task.handedIn()) {
        if (changed.entrySet().stream()
            .noneMatch(each -> each.getValue() != 'D' && Submission.below(each.getKey(), root))) {
          continue;
        }
        for (Content file :
            container.read(
                root,
                path -> changed.containsKey(path) && !found.containsKey(path),
                room,
                READING)) {
          if (file.regular()) {
            room -= file.bytes().length;
            found.put(
                file.path(), new BoxFile(file.path(), (file.mode() & 0100) != 0, file.bytes()));
          } else {
            left.add(file.path() + " is a link, or no regular file");
          }
        }
      }
      List<String> removed =
          changed.entrySet().stream()
              .filter(each -> each.getValue() == 'D')
              .map(Map.Entry::getKey)
              .filter(path -> task.handedIn().stream().anyMatch(r -> Submission.below(path, r)))
              .sorted()
              .toList();
      return new Submission(List.copyOf(found.values()), removed, left, "");
    } catch (Container.TooLargeException large) {
      return Submission.refused(
          "more than %d bytes were handed in".formatted(Submission.MOST_BYTES));
    }
  }

  /** Runs the tests, ends all that runs, and reads the reward. */
  TestBoxes.Graded grade(BoxContents contents, Duration limit) throws IOException {
    try {
      Container.Ended ended =
          container.run(contents.folder(), contents.variables(), List.of("sh", "-c", TESTS), limit);
      container.requireRunning();
      List<String> faults = new ArrayList<>();
      if (ended.late()) {
        faults.add("the tests took longer than %s s".formatted(limit.toMillis() / 1000.0));
      } else if (ended.exit() > 128 && ended.exit() <= 128 + LAST_SIGNAL) {
        faults.add("signal %d ended the tests".formatted(ended.exit() - 128));
      } else if (container.hasOthers()) {
        faults.add("a process has outlived the program that started it");
      }
      container.kill();
      return new TestBoxes.Graded(
          faults, rewards(faults), ended.exit(), settings.shown(ended.output()));
    } catch (Container.TooLargeException large) {
      return new TestBoxes.Graded(
          List.of(large.getMessage() + " has more than %d bytes".formatted(MOST_REWARD)),
          Map.of(),
          1,
          "");
    }
  }

  private Map<String, String> rewards(List<String> faults) throws IOException {
    Map<String, String> rewards = new HashMap<>();
    if (!container.changes().changed().containsKey(REWARDS)) {
      faults.add(REWARDS + " was replaced, or can no longer be written");
      return rewards;
    }
    Set<String> wanted = Set.of(REWARDS, REWARDS + "/reward.json", REWARDS + "/reward.txt");
    for (Content file : container.read(REWARDS, wanted::contains, MOST_REWARD, READING)) {
      if (file.regular() && (file.mode() & 0200) != 0 && !file.path().equals(REWARDS)) {
        rewards.put(
            file.path().substring(REWARDS.length() + 1),
            new String(file.bytes(), StandardCharsets.UTF_8));
      } else {
        faults.add(file.path() + " is no file that tests can write");
      }
    }
    return rewards;
  }
}
