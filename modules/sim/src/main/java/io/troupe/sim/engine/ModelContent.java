package io.troupe.sim.engine;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.RunState;
import io.troupe.core.train.LossTokens;
import io.troupe.sim.model.GroupDraw;
import io.troupe.sim.model.GroupKey;
import io.troupe.sim.model.Scenario;
import java.util.List;

/** Lengths and rewards that are drawn from a scenario's model; every step succeeds. */
final class ModelContent implements RunContent {
  private final Scenario scenario;
  private final long seed;

  ModelContent(Scenario scenario, long seed) {
    this.scenario = scenario;
    this.seed = seed;
  }

  private record Drawn(GroupDraw draw) implements GroupContent {
    @Override
    public int completions() {
      return draw.lengths().length;
    }

    @Override
    public boolean followsWeights() {
      return false;
    }

    @Override
    public int[] lengths(TokenVersions versions) {
      return draw.lengths();
    }

    @Override
    public Input judged(LeaseId lease, List<TokenVersions> versions) {
      return new Input.GroupScored(new GroupSummary(lease, draw.rewards(), versions));
    }
  }

  @Override
  public GroupContent group(Effect.Grant grant) {
    GroupKey key =
        new GroupKey(
            seed, grant.lease().group().number(), grant.prompt(), grant.epoch(), grant.draws());
    return new Drawn(
        scenario
            .model()
            .workload()
            .draw(key, scenario.limits().groups().size().part(), scenario.maxTokens()));
  }

  @Override
  public void forget(LeaseId lease) {}

  @Override
  public List<Input> step(Effect.Train step, LossTokens tokens) {
    return List.of(
        new Input.LossTokensCounted(step.step(), tokens), new Input.StepTrained(step.step()));
  }

  @Override
  public Runnable checkpoint(Effect.SaveCheckpoint checkpoint) {
    return () -> {};
  }

  @Override
  public void decided(long millis, RunState state, List<Event> events) {}
}
