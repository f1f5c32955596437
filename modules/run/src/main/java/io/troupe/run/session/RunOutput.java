package io.troupe.run.session;

import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.run.Event;
import io.troupe.core.run.GroupEvent;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Ledger;
import io.troupe.runtime.RunListener;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.file.JsonLinesFile;
import io.troupe.tasks.ExcludedPrompts;
import io.troupe.telemetry.StepRow;
import io.troupe.telemetry.StepTable;
import io.troupe.telemetry.view.LossReasons;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.StringJoiner;

/**
 * The output of a run for a person or a program: rows and the closing account on standard output,
 * everything else on standard error. Also keeps {@code metrics.jsonl}.
 */
final class RunOutput implements RunListener {
  private final PrintStream out;
  private final PrintStream err;
  private final boolean json;
  private final StepTable table;
  private final JsonLinesFile metrics;
  private final JsonText text;
  private final GroupSize size;
  private final LossReasons losses = new LossReasons();
  private final UnwrittenRewards unwritten = new UnwrittenRewards();
  private boolean headerPrinted;
  private OptionalDouble firstEval = OptionalDouble.empty();
  private OptionalDouble lastEval = OptionalDouble.empty();

  RunOutput(
      PrintStream out,
      PrintStream err,
      boolean json,
      StepTable table,
      JsonLinesFile metrics,
      GroupSize size) {
    this.out = out;
    this.err = err;
    this.json = json;
    this.table = table;
    this.metrics = metrics;
    this.text = new JsonText();
    this.size = size;
  }

  /** A line about the run, not of it. */
  void say(String line) {
    err.println(line);
  }

  @Override
  public void warmup(TrainerTasks.WarmupProgress progress) {
    say(
        String.format(
            Locale.ROOT,
            "warm-up %4d/%d  loss %.3f",
            progress.step(),
            progress.steps(),
            progress.loss()));
  }

  @Override
  public void row(StepRow row) {
    if (row.eval().isPresent()) {
      firstEval = firstEval.isPresent() ? firstEval : row.eval();
      lastEval = row.eval();
    }
    metrics.write(row.toMap());
    if (json) {
      out.println(text.line(row.toMap()));
      return;
    }
    if (!headerPrinted) {
      headerPrinted = true;
      out.println(table.header());
    }
    out.println(table.row(row));
    if (!row.evaluations().isEmpty()) {
      StringJoiner named = new StringJoiner(" · ", "evaluations: ", "");
      row.evaluations()
          .forEach((name, share) -> named.add(String.format(Locale.ROOT, "%s %.3f", name, share)));
      out.println(table.note(named.toString()));
    }
  }

  @Override
  public void happened(long atMillis, Event event) {
    if (event instanceof GroupEvent.Requeued requeued) {
      losses.requeued(requeued).ifPresent(this::note);
    }
  }

  @Override
  public void judged(List<Verdict> verdicts) {
    unwritten.judged(verdicts).ifPresent(this::note);
  }

  @Override
  public void note(String sentence) {
    (json ? err : out).println(table.note(sentence));
  }

  @Override
  public void ended(RunEnd end, RunState state) {
    metrics.close();
  }

  /** The closing account: it adds up, in public. */
  void account(RunEnd end, RunState state, Duration took) {
    PrintStream to = json ? err : out;
    String word =
        switch (end) {
          case RunEnd.Completed _ -> "done  ";
          case RunEnd.Interrupted _ -> "paused";
          case RunEnd.Failed _ -> "failed";
        };
    to.printf(
        Locale.ROOT,
        "%s step %d · %s · %s%s%n",
        word,
        state.version().number(),
        state.version(),
        duration(took),
        evals());
    to.println("       " + rollouts(state));
    to.println("       " + prompts(state));
    losses.sentence().ifPresent(lost -> to.println("       lost in this session " + lost));
    unwritten.sentence().ifPresent(zero -> to.println("       " + zero));
  }

  /** The rows that the run went on without, which belong to the account. */
  void refused(List<ExcludedPrompts> rows) {
    rows.forEach(each -> (json ? err : out).println("       data " + each.describe()));
  }

  private String evals() {
    return firstEval.isPresent() && lastEval.isPresent()
        ? String.format(
            Locale.ROOT, " · eval %.3f → %.3f", firstEval.getAsDouble(), lastEval.getAsDouble())
        : "";
  }

  private String rollouts(RunState state) {
    Ledger ledger = state.ledger();
    List<String> parts = new ArrayList<>();
    part(parts, ledger.trained(), "trained");
    part(parts, ledger.filtered(), "filtered");
    part(parts, ledger.skipped(), "skipped");
    part(parts, ledger.stale(), "stale");
    part(parts, ledger.expired(), "expired");
    part(parts, ledger.lost(), "lost");
    part(parts, ledger.failures(), "failed");
    part(parts, ledger.outages(), "outages");
    part(parts, ledger.cancelled(), "cancelled");
    part(parts, state.leases().count(), "in flight");
    part(parts, state.buffered().count(), "buffered");
    part(parts, state.inTraining().count(), "in training");
    return "%s %s = %s"
        .formatted(
            counted(ledger.granted()),
            size.grows() ? "groups under lease" : "rollouts",
            parts.isEmpty() ? "0" : String.join(" + ", parts));
  }

  private void part(List<String> parts, long groups, String name) {
    if (groups > 0) {
      parts.add(counted(groups) + " " + name);
    }
  }

  /** Groups as rollouts, which can be counted where all groups are of one size. */
  private String counted(long groups) {
    return number(size.grows() ? groups : groups * size.part());
  }

  private static String prompts(RunState state) {
    Ledger ledger = state.ledger();
    List<String> parts = new ArrayList<>();
    parts.add(number(ledger.trained()) + " trained" + uses(ledger));
    parts.add(number(ledger.filtered()) + " filtered");
    if (ledger.skipped() > 0) {
      parts.add(number(ledger.skipped()) + " skipped");
    }
    parts.add(number(ledger.failed()) + " failed");
    parts.add(number(state.groups().size()) + " pending");
    return "%s prompts admitted = %s · %s late answers refused"
        .formatted(number(ledger.admitted()), String.join(" + ", parts), number(ledger.refused()));
  }

  /** Returns the number of steps that trained on the trained groups, where that is not one each. */
  private static String uses(Ledger ledger) {
    return ledger.reused() == 0
        ? ""
        : " (%s uses)".formatted(number(ledger.trained() + ledger.reused()));
  }

  private static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value).replace(',', ' ');
  }

  static String duration(Duration took) {
    long seconds = took.toSeconds();
    if (seconds < 60) {
      return String.format(Locale.ROOT, "%.1f s", took.toMillis() / 1000.0);
    }
    if (seconds < 3600) {
      return "%d min %d s".formatted(seconds / 60, seconds % 60);
    }
    return "%d h %d min".formatted(seconds / 3600, seconds % 3600 / 60);
  }
}
