package io.troupe.store.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.outage.CircuitBreaker;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.outage.Outages;
import io.troupe.core.prompt.PassRate;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.reward.PassMark;
import io.troupe.core.rollout.EpisodeSummary;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Controls;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.Decision;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunLimits;
import io.troupe.core.run.RunState;
import io.troupe.core.run.Streaks;
import io.troupe.core.run.group.Group;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.train.LossTokens;
import io.troupe.core.weights.WeightVersion;
import io.troupe.store.file.FormatException;
import io.troupe.store.segment.JournalPosition;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

public class RunJsonTest {
  private static final LeaseId LEASE = new LeaseId(new GroupId(7), 12);

  /** A coordinator's history under random inputs. */
  public static final class History {
    private final SplittableRandom random;
    private final Coordination coordination;
    public final List<Event> events = new ArrayList<>();
    final List<RunState> states = new ArrayList<>();
    private RunState state = RunState.INITIAL;
    private long now;

    public History(long seed) {
      random = new SplittableRandom(seed);
      int uses = seed % 4 == 3 ? 2 : 1;
      coordination =
          new Coordination(
              new RunLimits(
                      new RunLimits.Prompts(5, 1, PromptSampling.UNIFORM, 2),
                      new RunLimits.Groups(
                          GroupSize.fixed(2), 6, 40, true, false, 9, new PassMark(seed % 3 - 0.5)),
                      new RunLimits.Step(2, 1, StalePolicy.DROP, false, uses),
                      new RunLimits.Schedule(30, 3, 2, 3, 0, 20),
                      OutageLimits.DEFAULT)
                  .withOutages(new OutageLimits(3, 12, 1_000)));
      take(coordination.decide(state, new Input.Begin(), 0));
      for (int i = 0; i < 150; i++) {
        now += random.nextInt(5);
        take(coordination.decide(state, input(), now));
      }
      for (int i = 0; i < 20; i++) {
        now += 5;
        take(coordination.decide(state, new Input.DemandRaised(worker(), 1_000), now));
        List<LeaseId> held = state.leases().map(Group.Leased::lease).toList();
        LeaseFailure failure =
            i < 10
                ? new LeaseFailure.OfEngine("no device")
                : new LeaseFailure.OfPrompt("it cannot be done");
        for (LeaseId lease : held) {
          take(
              coordination.decide(
                  state,
                  i < 10 && random.nextInt(6) == 0
                      ? new Input.GroupSampled(lease)
                      : new Input.GroupFailed(lease, failure),
                  now));
        }
      }
      take(coordination.resume(state, 999));
      take(coordination.decide(state, new Input.DrainRequested(), now));
      take(coordination.decide(state, new Input.Tick(), now + 1_000));
      take(coordination.decide(state, new Input.StepTrained(state.version().number() + 1), now));
      take(coordination.decide(state, new Input.CheckpointSaved(1, true), now));
    }

    private void take(Decision decision) {
      assertThat(RunJson.events(RunJson.encode(new RunJson.Entry(now, decision.events()))))
          .isEqualTo(decision.events());
      events.addAll(decision.events());
      state = decision.state();
      states.add(state);
    }

    private Input input() {
      List<Group.Leased> held = state.leases().toList();
      int dice = random.nextInt(100);
      if (random.nextInt(20) == 0) {
        return new Input.Ordered(verb(), new Attribution("ada", "\u202eback"));
      }
      if (held.isEmpty() || dice < 25) {
        return new Input.DemandRaised(worker(), random.nextInt(1 + states.size()));
      }
      LeaseId lease = held.get(random.nextInt(held.size())).lease();
      if (dice < 60) {
        return new Input.GroupScored(scored(lease));
      }
      if (dice < 70) {
        return new Input.GroupSampled(lease);
      }
      if (dice < 72) {
        return new Input.GroupFailed(
            new LeaseId(lease.group(), 5_000), new LeaseFailure.OfPrompt("of another life"));
      }
      if (dice < 76) {
        String reason = "it said \"no\",\n\u00fcberhaupt";
        return switch (random.nextInt(8)) {
          case 0 -> new Input.GroupFailed(lease, new LeaseFailure.OfVerifier(reason));
          case 1 -> new Input.VerifierAway(lease, reason);
          case 2, 3 -> new Input.GroupFailed(lease, new LeaseFailure.OfPrompt(reason));
          case 4, 5 -> new Input.GroupFailed(lease, new LeaseFailure.OfEnvironment(reason));
          default -> new Input.GroupFailed(lease, new LeaseFailure.OfEngine(reason));
        };
      }
      if (dice < 78) {
        return dice < 77 ? new Input.WorkerLost(worker()) : new Input.WorkerRetired(worker());
      }
      if (dice < 80) {
        return dice < 79
            ? new Input.NodeSkipped("a", new WeightVersion(3), "it was slow")
            : new Input.NodeCaughtUp("a", new WeightVersion(4));
      }
      long step = state.version().number() + 1;
      if (dice < 83) {
        return new Input.LossTokensCounted(step, new LossTokens(5, 1, 1));
      }
      if (dice < 95) {
        return dice < 93 ? new Input.StepTrained(step) : new Input.StepSkipped(step, "NaN");
      }
      return dice < 97 ? new Input.CheckpointSaved(2, false) : new Input.Tick();
    }

    private OperatorCommand verb() {
      return switch (random.nextInt(6)) {
        case 0 -> new OperatorCommand.SetLogLevel("io.troupe", "DEBUG");
        case 1 -> new OperatorCommand.RestartWorker(worker());
        case 2 -> new OperatorCommand.CancelGroup(new GroupId(1_000));
        case 3 -> new OperatorCommand.QuarantineVerifier("math-1");
        case 4 -> new OperatorCommand.DrainNode("b");
        default ->
            state.buffered().findFirst().map(GroupSummary::lease).map(LeaseId::group).stream()
                .<OperatorCommand>map(OperatorCommand.RequeueGroup::new)
                .findFirst()
                .orElseGet(OperatorCommand.SaveCheckpoint::new);
      };
    }

    private WorkerId worker() {
      return new WorkerId("rollout/" + random.nextInt(3));
    }

    private GroupSummary scored(LeaseId lease) {
      long newest = state.version().number();
      long oldest = state.lease(lease).orElseThrow().version().number();
      TokenVersions versions =
          oldest == newest
              ? TokenVersions.uniform(state.version(), 3)
              : TokenVersions.of(new long[] {oldest, oldest, newest});
      double reward = random.nextInt(5) == 0 ? 1 : random.nextDouble();
      if (random.nextBoolean()) {
        return new GroupSummary(lease, List.of(1.0, reward), List.of(versions, versions));
      }
      return new GroupSummary(
          lease,
          List.of(1.0, reward),
          List.of(versions, versions),
          List.of(
              EpisodeSummary.ANSWER,
              new EpisodeSummary(3, 2, StopReason.MAX_TURNS, 4, 56, 78, 150)));
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void events_randomHistory_foldToTheSameStateAfterReading(long seed) {
    History history = new History(seed);
    RunState replayed = RunState.INITIAL;
    for (Event event : RunJson.events(RunJson.encode(new RunJson.Entry(1, history.events)))) {
      replayed = replayed.evolve(event);
    }
    assertThat(replayed).isEqualTo(history.state);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void state_randomHistory_readsBackEqual(long seed) {
    for (RunState state : new History(seed).states) {
      assertReadsBackEqual(state);
    }
  }

  private static void assertReadsBackEqual(RunState state) {
    StateSnapshot snapshot = new StateSnapshot(new JournalPosition(3, 4_711, 12, 2), state);
    try {
      assertThat(RunJson.snapshot(Path.of("state.json"), RunJson.encode(snapshot)))
          .isEqualTo(snapshot);
    } catch (FormatException refused) {
      throw new AssertionError(refused);
    }
  }

  @Test
  void events_histories_holdEveryKindOfEvent() {
    Set<Class<?>> seen = new HashSet<>();
    for (long seed = 1; seed <= 40; seed++) {
      new History(seed).events.forEach(event -> seen.add(event.getClass()));
    }
    List<Event> others = GoldenFormats.SHELL;
    assertThat(RunJson.events(RunJson.encode(new RunJson.Entry(1, others)))).isEqualTo(others);
    others.forEach(event -> seen.add(event.getClass()));
    assertThat(seen).containsExactlyInAnyOrder(Event.class.getPermittedSubclasses());
  }

  @Test
  void state_everyPhaseAndEnd_readsBackEqual() {
    List<RunEnd> ends =
        List.of(new RunEnd.Completed(), new RunEnd.Interrupted(), new RunEnd.Failed("disk full"));
    List<Phase> phases = new ArrayList<>();
    phases.add(new Phase.Starting());
    phases.add(new Phase.Running());
    phases.add(new Phase.Draining(Long.MAX_VALUE, new RunEnd.Completed()));
    ends.forEach(end -> phases.add(new Phase.Saving(end)));
    ends.forEach(end -> phases.add(new Phase.Ended(end)));
    RunState start = RunState.INITIAL;
    for (Phase phase : phases) {
      RunState state =
          new RunState(
              phase,
              start.version(),
              start.cursor(),
              start.groups(),
              start.workers(),
              1,
              new Streaks(1, 2, 3, 4, 5, "so"),
              new Outages(
                  new TreeMap<>(Map.of("a", new CircuitBreaker(3, true, 10, 20))),
                  CircuitBreaker.CLOSED,
                  7,
                  "out of order"),
              start.ledger(),
              new TreeMap<>(Map.of(7, new PassRate(1.25, 0.75), 12, new PassRate(0, 8))),
              new Controls(true, true, 4));
      assertReadsBackEqual(state);
    }
  }

  @Test
  void encode_events_isWhatIsDocumented() {
    byte[] json =
        RunJson.encode(
            new RunJson.Entry(
                1_763_000_000_123L,
                List.of(
                    new Event.LeaseGranted(LEASE, new WorkerId("w"), new WeightVersion(3), 50),
                    new Event.OrderTaken(
                        new OperatorCommand.RequeueGroup(new GroupId(7)),
                        new Attribution("ada", "stuck")),
                    new Event.LeaseEnded(LEASE, LeaseEndReason.CANCELLED, "ordered by ada"))));
    assertThat(new String(json, UTF_8))
        .isEqualTo(
            """
            {"v":3,"at":1763000000123,"events":[\
            {"type":"LeaseGranted","lease":"g7#12","worker":"w","version":3,"deadlineMillis":50},\
            {"type":"OrderTaken","verb":{"type":"RequeueGroup","group":7},\
            "order":{"by":"ada","why":"stuck"}},\
            {"type":"LeaseEnded","lease":"g7#12","reason":"CANCELLED",\
            "detail":"ordered by ada","counts":false}]}\
            """);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "[]",
        "{\"v\":3,\"at\":1,\"events\":[{\"type\":\"LeaseSampled\",\"lease\":null}]}",
        "{\"v\":3,\"at\":1,\"events\":[{\"type\":\"StepTrained\"}]}",
        "{\"v\":3,\"events\":[]}",
        "{\"v\":3,\"at\":1,\"events\":[{\"type\":\"Unheard\"}]}",
        "{\"v\":3,\"at\":1,\"events\":[{\"type\":\"LeaseSampled\",\"lease\":\"7#12\"}]}",
        "{\"v\":3,\"at\":1,\"events\":[{\"type\":\"LeaseSampled\",\"lease\":\"g7\"}]}",
        "{\"v\":3,\"at\":1,\"events\":[{\"type\":\"LeaseSampled\",\"lease\":\"g7#0\"}]}",
        "{\"v\":3,\"at\":1,\"events\":[{\"type\":\"LeaseSampled\",\"lease\":\"g7#12\",\"more\":1}]}",
      })
  void events_somethingElse_isRefused(String json) {
    assertThatThrownBy(() -> RunJson.events(json.getBytes(UTF_8)))
        .isInstanceOf(UncheckedIOException.class);
  }
}
