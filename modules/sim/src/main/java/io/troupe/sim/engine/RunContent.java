package io.troupe.sim.engine;

import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.RunState;
import io.troupe.core.train.LossTokens;
import java.util.List;

/**
 * The content of a run in virtual time, which samples, judges and trains: numbers drawn from a
 * model, or real computations. The times are the model's either way.
 */
public interface RunContent {
  /** Returns the completions that will be sampled of a group. */
  GroupContent group(Effect.Grant grant);

  /** A group's tokens are not needed again. */
  void forget(LeaseId lease);

  /**
   * Returns the inputs that the coordinator receives once a step has ended.
   *
   * @param tokens that its loss counts
   */
  List<Input> step(Effect.Train step, LossTokens tokens);

  /**
   * Returns the action that saves a checkpoint of the present place in the journal, once its time
   * is over.
   */
  Runnable checkpoint(Effect.SaveCheckpoint checkpoint);

  /**
   * Takes the events of a decision.
   *
   * @param millis of virtual time since the simulation began
   * @param state behind them
   */
  void decided(long millis, RunState state, List<Event> events);
}
