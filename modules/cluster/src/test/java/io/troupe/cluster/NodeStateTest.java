package io.troupe.cluster;

import static io.troupe.cluster.NodeAction.Timer.ASSIGNMENT;
import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.TestInbox;
import akka.actor.typed.ActorRef;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.hosts.placement.NodeAssignment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class NodeStateTest {
  private static final Path LOG = Path.of("log");
  private static final List<String> RUNS = List.of("a", "b");
  private static final List<ActorRef<NodeRegistry.Command>> REGISTRIES =
      List.of(
          TestInbox.<NodeRegistry.Command>create("one").getRef(),
          TestInbox.<NodeRegistry.Command>create("two").getRef());

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void transitions_arbitraryMessages_keepWhatANodePromises(long seed) {
    Peers peers = new Peers(seed);
    for (int i = 0; i < 400; i++) {
      peers.disturb();
    }
    peers.settle();
  }

  @ParameterizedTest
  @CsvSource({"30, 30", "300, 60"})
  void leaveWithin_hostEndsSoon_drainsInTheTimeThatIsLeft(long left, long drains) {
    NodeState.Next next =
        NodeState.starting("a", NodeAgent.Until.DRAINED, Duration.ofSeconds(60))
            .leaveWithin("the host ends", Duration.ofSeconds(left));
    assertThat(next.actions().getFirst())
        .isEqualTo(new NodeAction.Say("the host ends; it drains within %d s".formatted(drains)));
    assertThat(next.actions().getLast())
        .isEqualTo(new NodeAction.Schedule(NodeAction.Timer.DRAIN, Duration.ofSeconds(drains)));
    assertThat(next.state().ended()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 1})
  void planFailed_causeEndsAfterTwoAttempts_startsTheProcesses(int slot) {
    NodeAssignment assignment =
        slot < 0
            ? NodeAssignment.UNMANAGED
            : new NodeAssignment(slot, List.of(), List.of(), List.of(), List.of());
    RunDescriptor run = new RunDescriptor("a", "", "", "", "", false, Map.of(), "");
    ActorRef<NodeRegistry.Command> registry = REGISTRIES.getFirst();
    NodeState state =
        NodeState.starting("n", NodeAgent.Until.DRAINED, Duration.ofSeconds(1))
            .registriesFound(Set.of(registry))
            .state()
            .assignmentOffered(run, assignment, registry)
            .state();
    for (long seconds : List.of(10, 20)) {
      NodeState.Next failed = state.planFailed("a", assignment.slot(), "the disk is full");
      assertThat(failed.actions())
          .contains(
              new NodeAction.Say(
                  "the disk is full; this node tries again in %d s".formatted(seconds)),
              new NodeAction.Schedule(ASSIGNMENT, Duration.ofSeconds(seconds)));
      NodeState.Next asked = failed.state().due(ASSIGNMENT);
      assertThat(asked.actions())
          .contains(new NodeAction.Register(registry, "a", assignment.slot()));
      NodeState.Next offered = asked.state().assignmentOffered(run, assignment, registry);
      assertThat(offered.actions()).contains(new NodeAction.Plan(run, assignment));
      state = offered.state();
    }
    ChildSpec worker = new ChildSpec("w", List.of("a"), Map.of(), LOG, LOG);
    NodeState.Next started =
        state.planReady(
            "a",
            assignment.slot(),
            new NodeAgent.ProcessPlan(List.of(worker), Optional.empty(), Set.of(), Set.of()));
    assertThat(started.actions())
        .contains(new NodeAction.CancelTimer(ASSIGNMENT), new NodeAction.Start(worker));
  }

  @Test
  void retry_slotOfAnotherNode_waitsForThatSlotAgain() {
    NodeAssignment slot = new NodeAssignment(1, List.of(), List.of(), List.of(), List.of());
    RunDescriptor run = new RunDescriptor("a", "", "", "", "", false, Map.of(), "");
    ActorRef<NodeRegistry.Command> registry = REGISTRIES.getFirst();
    NodeState.Next next =
        NodeState.starting("n", NodeAgent.Until.DRAINED, Duration.ofSeconds(1))
            .registriesFound(Set.of(registry))
            .state()
            .assignmentOffered(run, slot, registry)
            .state()
            .planFailed("a", 1, "no GPU")
            .state()
            .due(ASSIGNMENT)
            .state()
            .assignmentOffered(run, NodeAssignment.STANDBY, registry);
    assertThat(next.actions())
        .contains(new NodeAction.Schedule(ASSIGNMENT, Duration.ofSeconds(10)))
        .noneMatch(NodeAction.Plan.class::isInstance);
    assertThat(next.state().due(NodeAction.Timer.REGISTRATION).actions())
        .as("meanwhile the node is a spare one")
        .contains(new NodeAction.Register(registry, "a", NodeAssignment.STANDBY.slot()));
  }

  /**
   * The peers of a node agent: registries, planner, processes and timers. It answers in any order,
   * and asserts after every message.
   */
  private static final class Peers {
    private final Random random;
    private final Map<String, ChildSpec> running = new LinkedHashMap<>();
    private final Set<String> ordered = new HashSet<>();
    private final Set<String> releasing = new HashSet<>();
    private final Set<NodeAction.Timer> timers = new HashSet<>();
    private final Map<String, ChildSpec> restarts = new HashMap<>();
    private final List<NodeAction.Plan> planning = new ArrayList<>();
    private final NodeAgent.Until until;
    private NodeState state;
    private Optional<ActorRef<NodeRegistry.Command>> watched = Optional.empty();
    private Optional<String> run = Optional.empty();
    private boolean leaving;
    private long now;

    private Peers(long seed) {
      random = new Random(seed);
      until = random.nextBoolean() ? NodeAgent.Until.DRAINED : NodeAgent.Until.RUN_COMPLETE;
      state = NodeState.starting("n", until, Duration.ofSeconds(1));
    }

    private void disturb() {
      now += random.nextInt(60_000);
      switch (random.nextInt(24)) {
        case 0, 1 -> apply(state.registriesFound(Set.of(registry())));
        case 2 -> terminate();
        case 3, 4, 5, 6, 7, 8 -> offer();
        case 9, 10, 11, 12, 13 -> planned();
        case 14, 15, 16 -> pick(running.keySet()).ifPresent(this::end);
        case 17 -> pick(timers).ifPresent(this::due);
        case 18, 19 -> pick(restarts.keySet()).ifPresent(this::restart);
        case 20 -> pick(RUNS).ifPresent(this::endRun);
        case 21 -> apply(state.stopChild(random.nextBoolean() ? "n" : "other", "w0", 7));
        case 22 -> apply(state.childEnded(spec("gone", "a", 0), exit(0), now));
        default -> {
          if (random.nextInt(60) == 0) {
            leave();
          }
        }
      }
    }

    /** The node leaves once the last process that still runs has ended. */
    private void settle() {
      leave();
      List.copyOf(restarts.keySet()).forEach(this::restart);
      planned();
      for (String child : List.copyOf(running.keySet())) {
        assertThat(state.ended()).isFalse();
        end(child);
      }
      assertThat(running).isEmpty();
      assertThat(state.ended()).isTrue();
    }

    private ActorRef<NodeRegistry.Command> registry() {
      return REGISTRIES.get(random.nextInt(2));
    }

    private void terminate() {
      ActorRef<NodeRegistry.Command> gone = registry();
      apply(state.registryTerminated(gone));
      if (watched.equals(Optional.of(gone))) {
        watched = Optional.empty();
        assertThat(timers).doesNotContain(NodeAction.Timer.REGISTRATION);
      }
    }

    private void offer() {
      NodeState before = state;
      ActorRef<NodeRegistry.Command> sender = registry();
      NodeAssignment assignment =
          switch (random.nextInt(4)) {
            case 0 -> NodeAssignment.UNMANAGED;
            case 1 -> NodeAssignment.STANDBY;
            default ->
                new NodeAssignment(random.nextInt(2), List.of(), List.of(), List.of(), List.of());
          };
      String name = RUNS.get(random.nextInt(2));
      RunDescriptor descriptor =
          new RunDescriptor(name, "", "", "", "", false, Map.of(), "ranks of " + name);
      boolean moves =
          running.isEmpty()
              && !leaving
              && watched.equals(Optional.of(sender))
              && !run.equals(Optional.of(name));
      if (moves) {
        run = Optional.of(name);
      }
      apply(state.assignmentOffered(descriptor, assignment, sender));
      if (moves) {
        assertThat(restarts).isEmpty();
      }
      if (before.work().released().isEmpty() && state.work().released().isPresent()) {
        releasing.addAll(running.keySet());
        releasing.removeAll(state.work().standbys());
        assertThat(releasing).isNotEmpty();
        assertThat(ordered).containsAll(releasing);
      }
    }

    private void planned() {
      if (planning.isEmpty()) {
        return;
      }
      NodeAction.Plan plan = planning.remove(random.nextInt(planning.size()));
      String name = plan.descriptor().run();
      int slot = plan.assignment().slot();
      if (random.nextInt(5) == 0) {
        apply(state.planFailed(name, slot, "no GPU"));
        return;
      }
      List<ChildSpec> children = new ArrayList<>();
      children.add(spec("standby", name, slot));
      for (int i = 0; slot != NodeAssignment.STANDBY.slot() && i < 1 + random.nextInt(3); i++) {
        children.add(spec("w" + i, name, slot));
      }
      apply(
          state.planReady(
              name,
              slot,
              new NodeAgent.ProcessPlan(
                  children, Optional.empty(), Set.of("w0"), Set.of("standby"))));
    }

    private void end(String child) {
      ChildSpec spec = running.remove(child);
      boolean byOrder = ordered.remove(child);
      releasing.remove(child);
      if (spec == null) {
        throw new AssertionError(child + " does not run");
      }
      if (!byOrder && random.nextInt(4) == 0) {
        apply(state.childNotStarted(spec, "no file", now));
      } else {
        apply(state.childEnded(spec, exit(byOrder ? 0 : random.nextInt(2)), now));
      }
    }

    private void restart(String child) {
      ChildSpec spec = restarts.remove(child);
      if (spec != null) {
        apply(state.restartDue(spec));
      }
    }

    private void endRun(String name) {
      boolean works = run.equals(Optional.of(name));
      if (works) {
        run = Optional.empty();
      }
      boolean complete = random.nextInt(20) == 0;
      leaving |= works && complete && until == NodeAgent.Until.RUN_COMPLETE;
      apply(state.runEnded(name, complete));
      if (works) {
        assertThat(ordered).containsAll(running.keySet());
        assertThat(restarts).isEmpty();
        releasing.clear();
      }
    }

    private void leave() {
      boolean already = leaving;
      leaving = true;
      apply(
          random.nextBoolean()
              ? state.leave()
              : state.leaveWithin("the host ends", Duration.ofSeconds(1 + random.nextInt(120))));
      assertThat(already || timers.contains(NodeAction.Timer.DRAIN)).isTrue();
      assertThat(ordered).containsAll(running.keySet());
    }

    private void due(NodeAction.Timer timer) {
      timers.remove(timer);
      apply(state.due(timer));
    }

    private <T> Optional<T> pick(Collection<T> all) {
      return all.stream().skip(all.isEmpty() ? 0 : random.nextInt(all.size())).findFirst();
    }

    private void apply(NodeState.Next next) {
      state = next.state();
      next.actions().forEach(this::act);
      assertThat(state.children().alive()).isEqualTo(running);
      assertThat(state.registry()).isEqualTo(watched.filter(_ -> state.registry().isPresent()));
      assertThat(state.ended()).isEqualTo(leaving && running.isEmpty());
      if (state.work().refusal().isEmpty()) {
        assertThat(timers).as("no assignment has failed").doesNotContain(ASSIGNMENT);
      } else if (!state.work().refusal().get().due() && !leaving) {
        assertThat(timers.contains(ASSIGNMENT) || planning.stream().anyMatch(this::isOfThisRun))
            .as("an assignment that failed is tried again")
            .isTrue();
      }
    }

    private void act(NodeAction action) {
      switch (action) {
        case NodeAction.Plan plan -> {
          assertThat(leaving).isFalse();
          assertThat(run).contains(plan.descriptor().run());
          assertThat(running.keySet())
              .as("processes of the slot that was released")
              .doesNotContainAnyElementsOf(withNone(releasing));
          planning.add(plan);
        }
        case NodeAction.Start(ChildSpec child) -> {
          assertThat(leaving).isFalse();
          assertThat(run).contains(child.command().getFirst());
          assertThat(running.put(child.name(), child)).as("%s runs", child.name()).isNull();
        }
        case NodeAction.Drain(String child) -> {
          assertThat(running).containsKey(child);
          ordered.add(child);
        }
        case NodeAction.Kill(String child) -> assertThat(releasing).contains(child);
        case NodeAction.KillAll _ -> assertThat(leaving || run.isEmpty()).isTrue();
        case NodeAction.SendCoordinator(String rank, String address) -> {
          assertThat(running).containsKey(rank);
          assertThat(Optional.of(address)).isEqualTo(run.map(name -> "ranks of " + name));
        }
        case NodeAction.Watch(var registry) -> watched = Optional.of(registry);
        case NodeAction.Unwatch(var registry) -> assertThat(watched).contains(registry);
        case NodeAction.Tell(var registry, var _) -> assertThat(watched).contains(registry);
        case NodeAction.Register(var registry, String name, int _) -> {
          assertThat(watched).contains(registry);
          assertThat(name).isEqualTo(run.orElse(""));
        }
        case NodeAction.Schedule(NodeAction.Timer timer, Duration pause) -> {
          assertThat(pause).isPositive();
          timers.add(timer);
        }
        case NodeAction.CancelTimer(NodeAction.Timer timer) -> timers.remove(timer);
        case NodeAction.ScheduleRestart(ChildSpec child, Duration pause) -> {
          assertThat(pause).isPositive();
          restarts.put(child.name(), child);
        }
        case NodeAction.CancelRestart(String child) -> restarts.remove(child);
        case NodeAction.Reply _,
            NodeAction.KillProcess _,
            NodeAction.EndRun _,
            NodeAction.Say _ -> {}
      }
    }

    private boolean isOfThisRun(NodeAction.Plan plan) {
      return run.equals(Optional.of(plan.descriptor().run()));
    }

    private static Set<String> withNone(Set<String> names) {
      Set<String> all = new HashSet<>(names);
      all.add("none");
      return all;
    }

    private static ChildProcesses.Exit exit(int code) {
      return new ChildProcesses.Exit(7, code);
    }

    private static ChildSpec spec(String name, String run, int slot) {
      return new ChildSpec(name, List.of(run), Map.of("SLOT", "" + slot), LOG, LOG);
    }
  }
}
