package io.troupe.cli.supervised;

import io.troupe.core.supervised.SupervisedExample;
import io.troupe.core.supervised.SupervisedPlan;
import io.troupe.engine.Tokenizer;
import io.troupe.run.supervised.SupervisedComposition;
import io.troupe.run.task.SupervisedData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Says what the configuration of a supervised run comes to. */
record SupervisedPlanText(SupervisedComposition composition) {
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
    return lines;
  }

  /** Returns the summary, and the first example with its imitated part marked. */
  List<String> lines() {
    List<String> lines = new ArrayList<>(summary());
    SupervisedExample first = composition.data().train().getFirst();
    Tokenizer tokenizer = composition.tokenizer();
    lines.add("");
    lines.add(
        "row    %s: %d tokens of prompt, %d behind it, of which %d are imitated"
            .formatted(
                first.id(),
                first.prompt().length,
                first.completion().length,
                first.imitatedTokens()));
    lines.add("prompt " + quoted(tokenizer.decode(first.prompt())));
    int from = 0;
    for (int t = 1; t <= first.completion().length; t++) {
      if (t == first.completion().length || first.imitated()[t] != first.imitated()[from]) {
        int[] part = Arrays.copyOfRange(first.completion(), from, t);
        lines.add(
            (first.imitated()[from] ? "learns " : "reads  ") + quoted(tokenizer.decode(part)));
        from = t;
      }
    }
    return lines;
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\n", "\\n").replace("\"", "\\\"") + "\"";
  }
}
