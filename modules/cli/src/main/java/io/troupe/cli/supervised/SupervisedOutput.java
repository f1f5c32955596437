package io.troupe.cli.supervised;

import io.troupe.core.supervised.SupervisedEvent;
import io.troupe.run.session.JsonText;
import io.troupe.run.supervised.SupervisedSession.Outcome;
import io.troupe.run.supervised.SupervisedSession.SupervisedListener;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;

/** Shows a supervised run: rows on standard output, everything else on standard error. */
final class SupervisedOutput implements SupervisedListener {
  private static final String HEADER =
      "   step    epoch      loss  grad norm   learn rate   tokens/s";

  private final PrintStream out;
  private final PrintStream err;
  private final boolean json;
  private final JsonText text = new JsonText();
  private boolean headed;

  SupervisedOutput(PrintStream out, PrintStream err, boolean json) {
    this.out = out;
    this.err = err;
    this.json = json;
  }

  @Override
  public void say(String line) {
    err.println(line);
  }

  @Override
  public void happened(SupervisedEvent event) {
    // The step's row shows the event.
  }

  @Override
  public void row(Map<String, Object> row) {
    if (json) {
      out.println(text.line(row));
      return;
    }
    if (!headed) {
      headed = true;
      out.println(HEADER);
    }
    StringBuilder line = new StringBuilder();
    line.append("%7s".formatted(row.get("step"))).append(number(row, "epoch", " %8.2f"));
    if (row.get("skipped") instanceof String reason) {
      line.append("  not made: ").append(reason);
    } else if (row.containsKey("loss")) {
      line.append(number(row, "loss", " %9.4f"))
          .append(number(row, "gradient_norm", " %10.3f"))
          .append(number(row, "learning_rate", " %12.3g"))
          .append(number(row, "tokens_per_s", " %10.0f"));
    }
    row.forEach(
        (key, value) -> {
          if (value instanceof Double number
              && (key.startsWith("eval_") || key.equals("held_out_loss"))) {
            line.append(String.format(Locale.ROOT, "  %s %.4f", key, number));
          }
        });
    out.println(line);
  }

  @SuppressWarnings("FormatStringAnnotation") // the callers above have constants of one number
  private static String number(Map<String, Object> row, String key, String format) {
    return row.get(key) instanceof Double value ? String.format(Locale.ROOT, format, value) : "";
  }

  /** The closing account. */
  void account(Outcome outcome, double seconds) {
    (json ? err : out)
        .printf(
            Locale.ROOT,
            "%s step %d · %,d sequences · %,d tokens imitated · %.1f s%n",
            switch (outcome.reason()) {
              case COMPLETED -> "done  ";
              case INTERRUPTED -> "paused";
              case FAILED -> "failed";
            },
            outcome.state().step(),
            outcome.state().rows(),
            outcome.state().tokens(),
            seconds);
  }
}
