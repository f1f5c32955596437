package io.troupe.cli.eval;

import io.troupe.core.evaluation.PromptTally;
import io.troupe.evaluation.EvaluationJob;
import io.troupe.evaluation.EvaluationTask;
import java.io.PrintWriter;
import java.util.Locale;

/** Prints how far an evaluation is, at most once in two seconds. */
final class EvalProgress implements EvaluationJob.EvaluationProgress {
  private static final long EVERY_NANOS = 2_000_000_000L;

  private final PrintWriter out;
  private long printedAt = System.nanoTime();
  private String task = "";
  private long begunAt;
  private int begunWith;
  private String last = "";

  EvalProgress(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void wrote(EvaluationTask of, int done, int all, PromptTally judged) {
    long now = System.nanoTime();
    if (!of.name().equals(task)) {
      task = of.name();
      begunAt = now;
      begunWith = done;
    }
    double seconds = (now - begunAt) / 1e9;
    int here = done - begunWith;
    last =
        String.format(
            Locale.ROOT,
            "%s  %,d of %,d prompts  mean reward %s%s",
            task,
            done,
            all,
            judged.mean().isPresent()
                ? String.format(Locale.ROOT, "%.3f", judged.mean().getAsDouble())
                : "–",
            here == 0 || done == all ? "" : "  about " + left(seconds / here * (all - done)));
    if (now - printedAt >= EVERY_NANOS || done == all) {
      print(now);
    }
  }

  private static String left(double seconds) {
    long whole = Math.round(seconds);
    return whole < 120
        ? whole + " s left"
        : whole < 7200 ? whole / 60 + " min left" : whole / 3600 + " h left";
  }

  private void print(long now) {
    printedAt = now;
    out.println(last);
    out.flush();
    last = "";
  }

  /** Prints what was not printed yet. */
  void end() {
    if (!last.isEmpty()) {
      print(System.nanoTime());
    }
  }
}
