package io.troupe.tasks;

import io.troupe.environments.format.InlineFormat;
import io.troupe.environments.harbor.HarborException;
import io.troupe.environments.harbor.HarborTask;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataItem;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Task folders in the format of Harbor as questions, whose answers are the folders themselves. */
final class HarborPrompts {
  /** The characters that a shell may print, so that a policy of characters can read them. */
  static final String CHARACTERS =
      IntStream.concat(IntStream.of('\n', '\t'), IntStream.rangeClosed(' ', '~'))
          .mapToObj(Character::toString)
          .collect(Collectors.joining());

  private HarborPrompts() {}

  /**
   * Reads all tasks of a folder.
   *
   * @param imitated whether a solution of one line is worth imitating, as a call of the shell in
   *     the format inline
   * @throws TaskDataException if one is broken, or cannot run in a sandbox; says where and why
   */
  static List<DataItem> items(Path parent, boolean imitated) throws IOException {
    try {
      List<DataItem> items = new ArrayList<>();
      for (Path folder : HarborTask.folders(parent)) {
        HarborTask task = HarborTask.read(folder);
        items.add(
            DataItem.of(
                String.valueOf(folder.getFileName()),
                task.instruction(),
                folder.toAbsolutePath().normalize().toString(),
                imitated
                    ? task.solution()
                        .map(line -> InlineFormat.call("shell", line) + InlineFormat.result(""))
                        .orElse("")
                    : ""));
      }
      return items;
    } catch (HarborException refused) {
      throw new TaskDataException(String.valueOf(refused.getMessage()));
    }
  }
}
