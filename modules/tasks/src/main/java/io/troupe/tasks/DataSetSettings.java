package io.troupe.tasks;

import static io.troupe.core.Require.require;

import io.troupe.tasks.rows.RefusalLimit;
import io.troupe.tasks.rows.RowFiles;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataItem;
import io.troupe.tasks.sets.RowFormat;
import io.troupe.tasks.sets.RowOutcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The settings of one data set of a task: where its rows come from and how they become prompts.
 *
 * @param name of the data set
 * @param alias name of the data set in prompts; empty means its name
 * @param verifier that judges its answers
 * @param rows source of the rows
 * @param heldOut source of the prompts for evaluation
 * @param facets for each facet the values that are kept, such as 1 and 2 for level
 * @param cut limits of length and number
 * @param wording template around its questions
 * @param limits of its completions
 * @param order the order of its training prompts
 * @param weight in a weighted mixture
 */
public record DataSetSettings(
    String name,
    String alias,
    String verifier,
    Rows rows,
    HeldOut heldOut,
    Map<String, List<String>> facets,
    LengthLimits cut,
    PromptTemplate wording,
    SourceLimits limits,
    Ordering order,
    double weight) {
  /** The source of rows. */
  public sealed interface Rows {
    /**
     * Data files, one after the other.
     *
     * @param idPrefix prefix of ids made of row numbers
     * @param limit of the rows that are refused
     * @param keeping the sources whose prompts keep their rows
     */
    record Files(
        List<Path> files,
        RowFormat.Factory format,
        String idPrefix,
        RefusalLimit limit,
        RowKeeping keeping)
        implements Rows {
      public Files {
        files = List.copyOf(files);
      }

      /** Files whose rows no verifier reads. */
      public Files(
          List<Path> files, RowFormat.Factory format, String idPrefix, RefusalLimit limit) {
        this(files, format, idPrefix, limit, RowKeeping.NONE);
      }
    }

    /**
     * Task folders in the format of Harbor.
     *
     * @param parent folder of the tasks
     * @param imitated whether solutions of one line are worth imitating, as calls in the format
     *     inline
     */
    record Folders(Path parent, boolean imitated) implements Rows {}

    /** Computed arithmetic questions. */
    record Calculated(ArithmeticSettings arithmetic) implements Rows {}
  }

  /** The source of the prompts for evaluation. */
  public sealed interface HeldOut {
    /**
     * A share of the rows, chosen by the seed.
     *
     * @param share in [0, 1)
     */
    record Share(double share, long seed) implements HeldOut {
      public Share {
        PromptSplit.requireShare(share);
      }
    }

    /**
     * Other files of the same form. Their ids made of row numbers hold the word "heldout".
     *
     * @param facets kept values, as for the rows to train on
     */
    record OtherFiles(List<Path> files, Map<String, List<String>> facets) implements HeldOut {
      public OtherFiles {
        files = List.copyOf(files);
        facets = Map.copyOf(facets);
      }
    }
  }

  /**
   * The limits of prompts that are kept; the greatest number means no limit.
   *
   * @param promptCharacters most characters of a prompt, template included
   * @param solutionCharacters most characters of a solution
   * @param prompts most prompts: the first that fit, or the first of the order file
   */
  public record LengthLimits(int promptCharacters, int solutionCharacters, int prompts) {
    /** No limits. */
    public static final LengthLimits NONE =
        new LengthLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

    public LengthLimits {
      require(promptCharacters >= 1, "the limit of prompt characters is 1 or greater");
      require(solutionCharacters >= 1, "the limit of solution characters is 1 or greater");
      require(prompts >= 1, "the limit of prompts is 1 or greater");
    }
  }

  /** The order of training prompts. */
  public sealed interface Ordering {
    /** The order of the files. */
    record Natural() implements Ordering {}

    /** Shuffled once by a seed; for mixtures, which list their prompts. */
    record Shuffled(long seed) implements Ordering {}

    /**
     * The order of an order file; prompts that it does not list are left out.
     *
     * @param place of the file, for messages
     * @param ids each once
     * @param unmatchedShare largest share of ids without a row
     */
    record Listed(String place, List<String> ids, double unmatchedShare) implements Ordering {
      public Listed {
        ids = List.copyOf(ids);
        require(
            unmatchedShare >= 0 && unmatchedShare <= 1,
            "the share of unmatched ids lies in [0, 1], not %s",
            unmatchedShare);
      }
    }
  }

  public DataSetSettings {
    facets = Map.copyOf(facets);
    require(weight > 0 && Double.isFinite(weight), "a weight is above 0, not %s", weight);
  }

  /** Returns the source name of its prompts. */
  public String source() {
    return alias.isEmpty() ? name : alias;
  }

  /**
   * Returns the first rows of files, as examples before a question.
   *
   * @throws TaskDataException if the files have too few rows
   */
  public static List<DataItem> examples(List<Path> files, RowFormat.Factory format, int count)
      throws IOException {
    RowFormat rows = format.create("example_");
    List<DataItem> items = new ArrayList<>();
    RowFiles.read(
        files,
        row -> {
          if (items.size() < count && rows.read(row) instanceof RowOutcome.Taken(DataItem item)) {
            items.add(item);
          }
        });
    if (items.size() < count) {
      throw new TaskDataException(
          "%s: %d examples are asked for, and there are %d"
              .formatted(files.getFirst(), count, items.size()));
    }
    return items;
  }
}
