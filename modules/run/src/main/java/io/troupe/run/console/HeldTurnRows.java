package io.troupe.run.console;

import io.troupe.console.process.JvmReport;
import io.troupe.environments.HeldTurns;
import java.util.List;

/** The turns of this process that wait, as the console shows them. */
final class HeldTurnRows {
  private HeldTurnRows() {}

  static List<JvmReport.TurnReport> ofThisProcess() {
    return HeldTurns.ofThisProcess().stream()
        .map(turn -> new JvmReport.TurnReport(turn.on(), turn.turns(), turn.who(), turn.since()))
        .toList();
  }
}
