package io.troupe.run.session;

import io.troupe.telemetry.StepTable;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The abilities of standard output. */
final class Terminal {
  private Terminal() {}

  /** Box-drawing characters where the encoding has them, plain ones elsewhere. */
  static StepTable table(PrintStream out) {
    return out.charset().equals(StandardCharsets.UTF_8) ? StepTable.UNICODE : StepTable.ASCII;
  }
}
