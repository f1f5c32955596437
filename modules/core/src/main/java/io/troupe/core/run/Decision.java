package io.troupe.core.run;

import java.util.List;

/**
 * The answer to an input.
 *
 * @param state after all events: the fold of {@link RunState#evolve} over them
 */
public record Decision(List<Event> events, List<Effect> effects, RunState state) {
  public Decision {
    events = List.copyOf(events);
    effects = List.copyOf(effects);
  }

  /**
   * Whether a checkpoint is saved. Then the position behind this decision is the checkpoint's, and
   * a tick is due at once, because nothing was started yet that the new state allows.
   */
  public boolean saves() {
    for (Effect effect : effects) {
      if (effect instanceof Effect.SaveCheckpoint) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether its events must be fsynced before its effects are carried out: a checkpoint is fsynced
   * too and names its place in the journal, and from {@link Event.RunResumed} on fences are granted
   * that the next process must be able to step over.
   */
  public boolean outlivesTheMachine() {
    return saves() || events.stream().anyMatch(Event.RunResumed.class::isInstance);
  }
}
