package io.troupe.run.task;

import io.troupe.base.hash.Sha256;
import io.troupe.chat.ChatTemplate;
import io.troupe.config.task.DataSection;
import io.troupe.config.training.ImitatedDataSet;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.engine.Tokenizer;
import io.troupe.tasks.ExcludedPrompts;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.supervised.SupervisedFormat;
import io.troupe.tasks.supervised.SupervisedRow;
import io.troupe.tasks.supervised.SupervisedSet;
import io.troupe.tasks.supervised.SupervisedTokens;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Examples for supervised training, held-out examples, and rows that were left out.
 *
 * @param train at least one
 * @param heldOut may be empty
 * @param leftOut sentences about rows that are not used
 */
public record SupervisedData(
    List<SupervisedExample> train, List<SupervisedExample> heldOut, List<String> leftOut) {
  public SupervisedData {
    train = List.copyOf(train);
    heldOut = List.copyOf(heldOut);
    leftOut = List.copyOf(leftOut);
  }

  /**
   * Reads the rows of all data sets.
   *
   * @param seed of the choice of held-out rows
   * @throws TaskDataException if rows are bad or there are none to train on
   */
  public static SupervisedSet rows(List<ImitatedDataSet> sets, DataSection data, long seed)
      throws IOException {
    TaskFiles files = TaskFiles.of(data);
    List<SupervisedRow> train = new ArrayList<>();
    List<SupervisedRow> heldOut = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    for (ImitatedDataSet set : sets) {
      SupervisedFormat format =
          new SupervisedFormat(
              set.messagesField(),
              set.promptField(),
              set.completionField(),
              set.sourceField(),
              set.template() == ImitatedDataSet.TextForm.CHAT,
              Set.copyOf(set.sources()));
      SupervisedFormat.ReadRows read = format.read(files.data(set.file(), "train"), set.refusals());
      refuse(set.file(), "rows", read, refused);
      List<SupervisedRow> all = read.rows();
      List<SupervisedRow> taken =
          set.rows() == 0 ? all : all.subList(0, Math.min(set.rows(), all.size()));
      SupervisedSet split = SupervisedSet.split(taken, set.heldOutShare(), seed);
      train.addAll(split.train());
      heldOut.addAll(split.heldOut());
      if (!set.heldOutFile().isEmpty()) {
        SupervisedFormat.ReadRows others =
            format.read(files.data(set.heldOutFile(), "test"), set.refusals());
        refuse(set.heldOutFile(), "held-out rows", others, refused);
        heldOut.addAll(others.rows());
      }
    }
    if (train.isEmpty()) {
      throw new TaskDataException("datasets: there is no row to train on; add rows");
    }
    return new SupervisedSet(train, heldOut, refused);
  }

  private static void refuse(
      String file, String what, SupervisedFormat.ReadRows read, List<String> refused) {
    ExcludedPrompts.refused(file, what, read.refused())
        .forEach(each -> refused.add(each.describe()));
  }

  /**
   * Makes the tokens of rows.
   *
   * @param context most tokens of an example
   */
  public static SupervisedData of(
      SupervisedSet rows,
      ChatTemplate template,
      Tokenizer tokenizer,
      DataSection data,
      int context) {
    SupervisedTokens tokens = new SupervisedTokens(template, tokenizer);
    SupervisedSet.Fitting train = SupervisedSet.examples(rows.train(), tokens, context);
    SupervisedSet.Fitting heldOut = SupervisedSet.examples(rows.heldOut(), tokens, context);
    List<String> leftOut = new ArrayList<>(rows.refused());
    describe(train, "training", rows.train().size(), data, context, leftOut);
    describe(heldOut, "held-out", rows.heldOut().size(), data, context, leftOut);
    if (train.examples().isEmpty()) {
      throw new TaskDataException(
          "datasets: no row fits policy.context_length (%d); raise it".formatted(context));
    }
    return new SupervisedData(train.examples(), heldOut.examples(), leftOut);
  }

  private static void describe(
      SupervisedSet.Fitting part,
      String name,
      int rows,
      DataSection data,
      int context,
      List<String> leftOut) {
    if (part.tooLong().isEmpty()) {
      return;
    }
    String what =
        String.format(
            Locale.ROOT,
            "%,d of %,d %s rows are longer than policy.context_length (%d tokens), such as %s",
            part.tooLong().size(),
            rows,
            name,
            context,
            part.tooLong().getFirst());
    switch (data.overlong()) {
      case REFUSE ->
          throw new TaskDataException(
              "datasets: %s; raise it, or set data.overlong to drop".formatted(what));
      case DROP -> leftOut.add(what + " and are left out");
    }
  }

  /** The tokens with loss weight, of all rows to train on. */
  public long imitatedTokens() {
    return train.stream().mapToLong(SupervisedExample::imitatedTokens).sum();
  }

  /** The digest of all tokens and of which are imitated: what a resumed run must find again. */
  public String digest() {
    return digest(train);
  }

  /** The digest of the tokens of examples, and of which are imitated. */
  public static String digest(List<SupervisedExample> examples) {
    MessageDigest sha = Sha256.digest();
    for (SupervisedExample example : examples) {
      add(sha, example.prompt());
      add(sha, example.completion());
      for (boolean each : example.imitated()) {
        sha.update((byte) (each ? 1 : 0));
      }
    }
    return Sha256.hex(sha);
  }

  private static void add(MessageDigest sha, int[] tokens) {
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * (tokens.length + 1));
    bytes.putInt(tokens.length);
    for (int token : tokens) {
      bytes.putInt(token);
    }
    sha.update(bytes.flip());
  }
}
