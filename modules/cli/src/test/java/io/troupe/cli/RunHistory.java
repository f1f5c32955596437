package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.JournalReader;
import io.troupe.store.state.RunJson;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A journal read again from its first record, with the invariants of the run checked on the way: a
 * witness that shares nothing with the processes that wrote it but the core.
 */
final class RunHistory {
  /** A prompt in one pass over the prompts. */
  record Use(long epoch, int prompt) {}

  private final int maxStaleness;
  private final SortedMap<Long, List<Use>> trained = new TreeMap<>();
  private RunState state = RunState.INITIAL;
  private int resumes;

  private RunHistory(int maxStaleness) {
    this.maxStaleness = maxStaleness;
  }

  /** Replays the journal of a run whose stale policy is mask, and whose groups are used once. */
  static RunHistory replay(RunFolder run, int maxStaleness) throws IOException {
    return replay(run, maxStaleness, 1);
  }

  /** Replays a run whose groups are used a number of times at most. */
  static RunHistory replay(RunFolder run, int maxStaleness, int uses) throws IOException {
    RunHistory history = new RunHistory(maxStaleness);
    try (JournalReader reader = JournalReader.open(run.journal())) {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        RunJson.events(next.get().payload()).forEach(history::apply);
        assertThat(history.state.balanced())
            .as("record %d leaves %s", next.get().sequence(), history.state.ledger())
            .isTrue();
      }
    }
    history.requireNoPromptBeyond(uses);
    return history;
  }

  RunState state() {
    return state;
  }

  int resumes() {
    return resumes;
  }

  /**
   * Steps of the history that survived, each with what it trained on: up to the present version,
   * and of a step made twice, the later one, because a resume goes back to the newest checkpoint.
   */
  SortedMap<Long, List<Use>> trained() {
    return trained.headMap(state.version().number() + 1);
  }

  private void apply(Event event) {
    switch (event) {
      case Event.StepStarted(long _, List<GroupId> batch) -> batch.forEach(this::requireYoung);
      case Event.StepTrained(long step, var _) ->
          trained.put(
              step,
              state.inTraining().map(group -> new Use(group.epoch(), group.prompt())).toList());
      case Event.RunResumed _ -> resumes++;
      default -> {
        // Only these three matter here; the state is told of all.
      }
    }
    state = state.evolve(event);
  }

  /** Under the policy mask, a group enters a step only with a token that the bound lets learn. */
  private void requireYoung(GroupId id) {
    Group group = Objects.requireNonNull(state.groups().get(id), () -> id + " is not live");
    assertThat(group.stage()).isInstanceOf(Group.Buffered.class);
    long newest = ((Group.Buffered) group.stage()).summary().newest().number();
    assertThat(newest)
        .as("newest token of %s, trained from %s", id, state.version())
        .isBetween(state.version().number() - maxStaleness, state.version().number());
  }

  private void requireNoPromptBeyond(int most) {
    Map<Use, Integer> seen = new HashMap<>();
    trained().values().forEach(uses -> uses.forEach(use -> seen.merge(use, 1, Integer::sum)));
    assertThat(seen.values()).as("steps on a prompt in an epoch").allMatch(count -> count <= most);
    assertThat(seen.values().stream().mapToLong(Integer::longValue).sum())
        .isEqualTo(
            state.ledger().trained()
                + state.ledger().reused()
                + state.ready().mapToLong(Group.Buffered::uses).sum());
  }
}
