package io.troupe.run.task;

import io.troupe.base.hash.Sha256;
import io.troupe.chat.ChatTemplate;
import io.troupe.config.task.DataSection;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.engine.Tokenizer;
import io.troupe.tasks.ExcludedPrompts;
import io.troupe.tasks.rows.RefusedRows;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.supervised.SupervisedSet;
import io.troupe.tasks.supervised.SupervisedSet.Fitting;
import io.troupe.tasks.supervised.SupervisedTokens;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Examples for supervised training, held-out examples, and rows that were left out.
 *
 * @param train at least one
 * @param heldOut may be empty
 * @param leftOut sentences about rows that are not used
 */
public record SupervisedData(
    List<SupervisedExample> train, List<SupervisedExample> heldOut, List<String> leftOut) {
  private static final Fitting NONE = new Fitting(List.of(), List.of(), Map.of());

  public SupervisedData {
    train = List.copyOf(train);
    heldOut = List.copyOf(heldOut);
    leftOut = List.copyOf(leftOut);
  }

  /**
   * Makes the tokens of rows.
   *
   * @param context most tokens of an example
   */
  public static SupervisedData of(
      SupervisedRows rows,
      ChatTemplate template,
      Tokenizer tokenizer,
      DataSection data,
      int context) {
    SupervisedTokens tokens = new SupervisedTokens(template, tokenizer);
    Fitting train = NONE;
    Fitting heldOut = NONE;
    List<String> leftOut = new ArrayList<>();
    for (SupervisedRows.Part part : rows.parts()) {
      Fitting trained = SupervisedSet.examples(part.set().train(), tokens, context);
      Fitting measured = SupervisedSet.examples(part.set().heldOut(), tokens, context);
      RefusedRows refused = part.read().refused(trained.and(measured).unread());
      ExcludedPrompts.refused(part.file(), part.what(), refused)
          .forEach(each -> leftOut.add(each.describe()));
      train = train.and(trained);
      heldOut = heldOut.and(measured);
    }
    describe(train, "training", rows.train().size(), data, context, leftOut);
    describe(heldOut, "held-out", rows.heldOut().size(), data, context, leftOut);
    if (train.examples().isEmpty()) {
      throw new TaskDataException(
          train.tooLong().isEmpty()
              ? "datasets: every row to train on is refused; correct them"
              : "datasets: no row fits policy.context_length (%d); raise it".formatted(context));
    }
    return new SupervisedData(train.examples(), heldOut.examples(), leftOut);
  }

  private static void describe(
      Fitting part, String name, int rows, DataSection data, int context, List<String> leftOut) {
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
