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
}
