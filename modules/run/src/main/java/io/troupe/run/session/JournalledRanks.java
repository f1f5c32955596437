package io.troupe.run.session;

import io.troupe.core.run.Input;
import io.troupe.engine.parallel.RankNotices;
import java.util.function.Consumer;

/**
 * Notices of a run's trainer ranks. What costs the ranks steps goes to the coordinator, whose event
 * reaches the journal, the views and the screen; the rest goes to the screen alone.
 *
 * @param coordinator takes what it is to decide on
 * @param screen takes sentences
 */
record JournalledRanks(Consumer<Input> coordinator, Consumer<String> screen)
    implements RankNotices {
  @Override
  public void say(String sentence) {
    screen.accept(sentence);
  }

  @Override
  public void wentBack(long steps, String reason) {
    coordinator.accept(new Input.RanksWentBack(steps, reason));
  }
}
