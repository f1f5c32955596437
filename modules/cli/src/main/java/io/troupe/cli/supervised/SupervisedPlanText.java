package io.troupe.cli.supervised;

import io.troupe.config.plan.LearningRateNote;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.core.supervised.SupervisedPlan;
import io.troupe.engine.TokenPieces;
import io.troupe.run.supervised.SupervisedComposition;
import io.troupe.run.task.SupervisedData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Says what the configuration of a supervised run comes to. */
record SupervisedPlanText(SupervisedComposition composition) {
  private static final int ENDS_SHOWN = 3;

  /** The size of data and run. */
  List<String> summary() {
    SupervisedData data = composition.data();
    SupervisedPlan plan =
        composition
            .config()
            .training()
            .plan(data.train().size(), composition.config().run().seed());
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "data   %,d sequences, %,d held out · %,d tokens imitated of %,d",
            data.train().size(),
            data.heldOut().size(),
            data.imitatedTokens(),
            data.train().stream().mapToLong(SupervisedExample::length).sum()));
    data.leftOut().forEach(line -> lines.add("data   " + line));
    lines.add(
        String.format(
            Locale.ROOT,
            "steps  %,d of %,d sequences · %.2f epochs · seed %d",
            plan.steps(),
            plan.batch(),
            plan.epochsAfter(plan.steps()),
            plan.seed()));
    LearningRateNote.OF_ROWS
        .of(
            "training.learning_rate",
            composition.config().training().optimizer().learningRate(),
            composition.config().policy())
        .ifPresent(note -> lines.add("note   " + note));
    return lines;
  }

  /** Returns the summary, and the first example with its imitated part marked. */
  List<String> lines() {
    List<String> lines = new ArrayList<>(summary());
    SupervisedExample first = composition.data().train().getFirst();
    lines.add(ends());
    lines.add("");
    lines.add(
        "row    %s: %d tokens of prompt, %d behind it, of which %d are imitated"
            .formatted(
                first.id(),
                first.prompt().length,
                first.completion().length,
                first.imitatedTokens()));
    lines.add("prompt " + pieces(first.prompt()));
    int from = 0;
    for (int t = 1; t <= first.completion().length; t++) {
      if (t == first.completion().length || first.imitated()[t] != first.imitated()[from]) {
        int[] part = Arrays.copyOfRange(first.completion(), from, t);
        lines.add((first.imitated()[from] ? "learns " : "reads  ") + pieces(part));
        from = t;
      }
    }
    return lines;
  }

  private String pieces(int... ids) {
    return TokenPieces.of(ids, composition.tokenizer()).text();
  }

  /** Names the tokens with which sequences end, the most frequent first. */
  private String ends() {
    Map<Integer, Integer> ends = new HashMap<>();
    List<SupervisedExample> train = composition.data().train();
    train.forEach(each -> ends.merge(last(each), 1, Integer::sum));
    return ends.entrySet().stream()
        .sorted(Map.Entry.<Integer, Integer>comparingByValue().reversed())
        .limit(ENDS_SHOWN)
        .map(
            each ->
                String.format(
                    Locale.ROOT,
                    "%s (%d) in %,d of %,d",
                    pieces(each.getKey()),
                    each.getKey(),
                    each.getValue(),
                    train.size()))
        .collect(Collectors.joining(", ", "ends   the last token that is learnt: ", ""));
  }

  private static int last(SupervisedExample example) {
    int at = example.completion().length - 1;
    while (at > 0 && !example.imitated()[at]) {
      at--;
    }
    return example.completion()[at];
  }
}
