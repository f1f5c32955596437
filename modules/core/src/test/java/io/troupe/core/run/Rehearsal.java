package io.troupe.core.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.group.Group;
import io.troupe.core.weights.WeightVersion;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A coordinator under test: its state, its clock, and what the last input brought. After every
 * input the state must be the fold of the events, and the books must balance.
 */
public final class Rehearsal {
  private final Coordination coordination;
  private RunState state = RunState.INITIAL;
  private List<Event> events = List.of();
  private List<Effect> effects = List.of();
  private long now = 1_000;

  Rehearsal(Coordination coordination) {
    this.coordination = coordination;
  }

  public static WorkerId worker(String name) {
    return new WorkerId(name);
  }

  static LeaseId lease(long group, long fence) {
    return new LeaseId(new GroupId(group), fence);
  }

  /** A group of two completions with two tokens each, all of one version. */
  public static GroupSummary summary(LeaseId lease, long version, double... rewards) {
    return new GroupSummary(
        lease,
        Arrays.stream(rewards).boxed().toList(),
        Arrays.stream(rewards)
            .mapToObj(_ -> TokenVersions.uniform(new WeightVersion(version), 2))
            .toList());
  }

  /** A group whose two completions each have a token of the first and one of the last version. */
  static GroupSummary mixed(LeaseId lease, long first, long last) {
    TokenVersions versions = TokenVersions.of(new long[] {first, last});
    return new GroupSummary(lease, List.of(0.0, 1.0), List.of(versions, versions));
  }

  /**
   * Returns the state at another version of the weights, which no sequence of events need lead to.
   */
  static RunState at(RunState state, long version) {
    return state.version(new WeightVersion(version));
  }

  public Rehearsal tell(Input input) {
    return take(coordination.decide(state, input, now), state);
  }

  Rehearsal resume(RunState checkpoint, long lastFence) {
    return take(coordination.resume(checkpoint, lastFence), checkpoint);
  }

  Rehearsal startOver(long lastFence) {
    return take(coordination.resetJournal(lastFence), RunState.INITIAL);
  }

  private Rehearsal take(Decision decision, RunState from) {
    RunState folded = from;
    for (Event event : decision.events()) {
      folded = folded.evolve(event);
      assertThat(folded.balanced()).as("the books balance after %s", event).isTrue();
    }
    assertThat(decision.state()).isEqualTo(folded);
    state = folded;
    events = decision.events();
    effects = decision.effects();
    return this;
  }

  public Rehearsal ask(String worker, long total) {
    return tell(new Input.DemandRaised(worker(worker), total));
  }

  /** A lesson: rewards 0 and 1, all tokens of one version. */
  Rehearsal score(long group, long version) {
    return tell(new Input.GroupScored(summary(held(group), version, 0, 1)));
  }

  Rehearsal scoreEqual(long group) {
    return tell(new Input.GroupScored(summary(held(group), state.version().number(), 1, 1)));
  }

  Rehearsal fail(long group) {
    return tell(
        new Input.GroupFailed(held(group), new LeaseFailure.OfPrompt("it ends its verifier")));
  }

  /** The engine, or a server, or the weights fail, whatever the group is. */
  public Rehearsal failEngine(long group) {
    return tell(new Input.GroupFailed(held(group), new LeaseFailure.OfEngine("out of order")));
  }

  Rehearsal trained() {
    return tell(new Input.StepTrained(state.version().number() + 1));
  }

  public Rehearsal pass(long millis) {
    now += millis;
    return tell(new Input.Tick());
  }

  public long now() {
    return now;
  }

  public RunState state() {
    return state;
  }

  public List<Event> events() {
    return events;
  }

  List<Effect> effects() {
    return effects;
  }

  public <T> List<T> effects(Class<T> kind) {
    return effects.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /** Groups granted by the last input, in order. */
  public List<Long> granted() {
    return effects(Effect.Grant.class).stream()
        .map(grant -> grant.lease().group().number())
        .toList();
  }

  /** The lease under which a group is. */
  public LeaseId held(long group) {
    return state
        .leases()
        .map(Group.Leased::lease)
        .filter(lease -> lease.group().number() == group)
        .findFirst()
        .orElseThrow(() -> new AssertionError("g" + group + " is not under lease"));
  }

  List<Long> waiting() {
    return numbers(state.waiting().map(Group::id));
  }

  public List<Long> leased() {
    return numbers(state.leases().map(held -> held.lease().group()));
  }

  List<Long> buffered() {
    return numbers(state.buffered().map(summary -> summary.lease().group()));
  }

  List<Long> training() {
    return numbers(state.inTraining().map(Group::id));
  }

  private static List<Long> numbers(Stream<GroupId> ids) {
    return ids.map(GroupId::number).toList();
  }
}
