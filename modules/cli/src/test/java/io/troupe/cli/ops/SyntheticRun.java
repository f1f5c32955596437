package io.troupe.cli.ops;

import io.troupe.console.process.JvmInspector;
import io.troupe.console.source.NodeFacts;
import io.troupe.console.source.RunRecords;
import io.troupe.console.source.RunSource;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunLimits;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import io.troupe.telemetry.view.RunFold;
import io.troupe.telemetry.view.RunViewSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;

/** The events of a run on 16 nodes of 8 workers, made by the coordinator itself. */
final class SyntheticRun implements RunSource {
  private final long start = System.currentTimeMillis() - 80_000;
  private final RunLimits limits =
      new RunLimits(
          new RunLimits.Prompts(7_000, 1, PromptSampling.UNIFORM, 3),
          new RunLimits.Groups(4, 256, 600_000, true, false, 100_000),
          new RunLimits.Step(64, 2, StalePolicy.MASK, false),
          new RunLimits.Schedule(1_000, 0, 0, 0, 0, 100),
          OutageLimits.DEFAULT);
  private final Coordination coordination = new Coordination(limits);
  private final RunFold fold =
      new RunFold(RunViewSettings.of("gsm8k-16x8-<b>recorded</b>", limits), 20_000);
  private final RunRecords records;
  private final SplittableRandom random = new SplittableRandom(16);
  private final boolean live;
  private final List<String> orders = new CopyOnWriteArrayList<>();
  private RunState state = RunState.INITIAL;
  private long now = start;

  /**
   * A run that has trained {@code groups} groups.
   *
   * @param live whether it takes orders
   */
  SyntheticRun(Path traces, int groups, boolean live) {
    this.live = live;
    records = RunRecords.of(fold, traces);
    tell(new Input.Begin());
    List<WorkerId> workers = new ArrayList<>();
    for (int i = 0; i < 128; i++) {
      workers.add(new WorkerId("node-%02d/gpu-%d".formatted(i / 8 + 1, i % 8)));
    }
    workers.forEach(worker -> tell(new Input.DemandRaised(worker, groups)));
    while (state.ledger().trained() < groups) {
      now += random.nextInt(40);
      List<Group.Leased> held = state.leases().toList();
      if ((state.inTraining().findAny().isPresent() && random.nextInt(90) == 0) || held.isEmpty()) {
        step();
      } else {
        answer(held.get(random.nextInt(held.size())));
      }
    }
    tell(new Input.WorkerLost(workers.get(17)));
  }

  private void tell(Input input) {
    var decision = coordination.decide(state, input, now - start);
    for (Event event : decision.events()) {
      fold.event(now, event);
    }
    state = decision.state();
  }

  private void step() {
    long step = state.version().number() + 1;
    tell(new Input.StepTrained(step));
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("step", step);
    row.put("seconds", (now - start) / 1000.0);
    row.put("reward", 0.2 + 0.6 * step / (step + 40.0) + 0.05 * random.nextDouble());
    row.put("staleness_mean", 1 + 0.3 * random.nextDouble());
    row.put("staleness_max", 2);
    row.put("tokens_per_second", 190_000 + 9_000 * random.nextDouble());
    row.put("degenerate_share", 0.2);
    fold.row(row);
  }

  private void answer(Group.Leased held) {
    List<Double> rewards = new ArrayList<>();
    List<TokenVersions> versions = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      rewards.add(i == 0 ? 0.0 : (double) random.nextInt(2));
      versions.add(TokenVersions.uniform(held.version(), 100 + random.nextInt(400)));
    }
    tell(new Input.GroupSampled(held.lease()));
    tell(new Input.GroupScored(new GroupSummary(held.lease(), rewards, versions)));
  }

  @Override
  public RunRecords records() {
    return records;
  }

  @Override
  public Map<String, Object> provenance() {
    return Map.of("resolved", "run:\n  seed: 1 # <script>alert(1)</script>\n");
  }

  @Override
  public JvmInspector jvms() {
    return new RecordedJvms();
  }

  /** Transfers of 1.2 GB that took half a second or so; one node missed the newest. */
  @Override
  public List<NodeFacts> nodes() {
    SplittableRandom times = new SplittableRandom(7);
    long newest = state.version().number();
    List<NodeFacts> nodes = new ArrayList<>();
    for (int i = 1; i <= 16; i++) {
      boolean late = i == 5;
      List<NodeFacts.Transfer> transfers = new ArrayList<>();
      for (long version = Math.max(1, newest - 31); version <= newest; version++) {
        boolean missed = late && version == newest;
        transfers.add(
            new NodeFacts.Transfer(
                now - (newest - version) * 1_000,
                version,
                "%016x".formatted(version * 0x9E3779B97F4A7C15L).repeat(4),
                missed ? 300_000_000 : 1_200_000_000,
                0,
                missed ? 10_000 : 400 + times.nextInt(400),
                missed ? "no source gives them: node-04 <b>closed</b> the connection" : ""));
      }
      nodes.add(
          new NodeFacts(
              "node-%02d".formatted(i),
              "slot %d: workers on GPUs 0 to 7".formatted(i),
              late ? newest - 1 : newest,
              late ? 1 : 0,
              late ? "missed v" + newest : "",
              transfers));
    }
    return nodes;
  }

  @Override
  public boolean live() {
    return live;
  }

  @Override
  public CompletionStage<Optional<String>> order(OperatorCommand verb, Attribution order) {
    orders.add("%s %s".formatted(verb, order));
    return CompletableFuture.completedFuture(live ? Optional.empty() : Optional.of("recorded"));
  }

  /** Returns the orders so far. */
  List<String> orders() {
    return List.copyOf(orders);
  }
}
