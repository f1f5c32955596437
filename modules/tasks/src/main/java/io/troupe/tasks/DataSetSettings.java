package io.troupe.tasks;

import static io.troupe.core.Require.require;

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
 * One data set of a task: where its rows are and what becomes of them.
 *
 * @param name of the data set
 * @param alias under which its prompts go; empty means its name
 * @param verifier that judges its answers
 * @param rows where they come from
 * @param heldOut which of them are kept for evaluation
 * @param facets for each facet the values that are kept, such as level to 1 and 2
 * @param cut by length and number
 * @param wording around its questions
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
  /** Where rows come from. */
  public sealed interface Rows {
    /**
     * Data files, one after the other.
     *
     * @param idPrefix of ids made of row numbers
     */
    record Files(List<Path> files, RowFormat.Factory format, String idPrefix) implements Rows {
      public Files {
        files = List.copyOf(files);
      }
    }

    /** Numbers. */
    record Calculated(ArithmeticSettings arithmetic) implements Rows {}
  }

  /** Where the prompts for evaluation come from. */
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
     * @param facets as those of the rows to train on
     */
    record OtherFiles(List<Path> files, Map<String, List<String>> facets) implements HeldOut {
      public OtherFiles {
        files = List.copyOf(files);
        facets = Map.copyOf(facets);
      }
    }
  }

  /**
   * Which of the prompts are kept; the greatest number means no limit.
   *
   * @param promptCharacters most characters of a prompt, template included
   * @param solutionCharacters most characters of a solution
   * @param prompts at most so many, the first that fit, or the first of the order file
   */
  public record LengthLimits(int promptCharacters, int solutionCharacters, int prompts) {
    /** Everything. */
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
    /** As in the files. */
    record Natural() implements Ordering {}

    /** Shuffled once by a seed; for mixtures, which list their prompts. */
    record Shuffled(long seed) implements Ordering {}

    /**
     * As an order file says, and nothing else.
     *
     * @param place of the file, for messages
     * @param ids each once
     * @param unmatchedShare most ids without a row, as a share of all
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

  /** The name its prompts bear. */
  public String source() {
    return alias.isEmpty() ? name : alias;
  }

  /**
   * The first rows of files, to show before a question.
   *
   * @throws TaskDataException if there are not so many
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
