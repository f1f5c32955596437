package io.troupe.run.task;

import io.troupe.config.task.DataSection;
import io.troupe.config.training.ImitatedDataSet;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.supervised.SupervisedFormat;
import io.troupe.tasks.supervised.SupervisedRow;
import io.troupe.tasks.supervised.SupervisedSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The rows of all supervised data sets, before a policy reads them. */
public record SupervisedRows(List<Part> parts) {
  /**
   * The rows of a file or folder.
   *
   * @param what the rows are called, in the plural
   * @param set what is taken of the rows that were read
   */
  record Part(String file, String what, SupervisedFormat.ReadRows read, SupervisedSet set) {}

  public SupervisedRows {
    parts = List.copyOf(parts);
  }

  /**
   * Reads the rows of all data sets.
   *
   * @param seed of the choice of held-out rows
   * @throws TaskDataException if rows are bad or there are none to train on
   */
  public static SupervisedRows read(List<ImitatedDataSet> sets, DataSection data, long seed)
      throws IOException {
    TaskFiles files = TaskFiles.of(data);
    List<Part> parts = new ArrayList<>();
    for (ImitatedDataSet set : sets) {
      SupervisedFormat format =
          new SupervisedFormat(
              set.messagesField(),
              set.promptField(),
              set.completionField(),
              set.sourceField(),
              set.template() == ImitatedDataSet.TextForm.CHAT,
              Set.copyOf(set.sources()));
      SupervisedFormat.ReadRows read =
          format.read(files.data(set.file(), set.subset(), "train"), set.refusals());
      List<SupervisedRow> all = read.rows();
      List<SupervisedRow> taken =
          set.rows() == 0 ? all : all.subList(0, Math.min(set.rows(), all.size()));
      parts.add(
          new Part(set.file(), "rows", read, SupervisedSet.split(taken, set.heldOutShare(), seed)));
      if (!set.heldOutFile().isEmpty()) {
        SupervisedFormat.ReadRows others =
            format.read(files.data(set.heldOutFile(), set.subset(), "test"), set.refusals());
        parts.add(
            new Part(
                set.heldOutFile(),
                "held-out rows",
                others,
                new SupervisedSet(List.of(), others.rows())));
      }
    }
    SupervisedRows rows = new SupervisedRows(parts);
    if (rows.train().isEmpty()) {
      throw new TaskDataException("datasets: there is no row to train on; add rows");
    }
    return rows;
  }

  List<SupervisedRow> train() {
    return parts.stream().flatMap(each -> each.set().train().stream()).toList();
  }

  List<SupervisedRow> heldOut() {
    return parts.stream().flatMap(each -> each.set().heldOut().stream()).toList();
  }

  /** The characters of all texts, each once, in code point order. */
  public String alphabet() {
    return new SupervisedSet(train(), heldOut()).alphabet();
  }
}
