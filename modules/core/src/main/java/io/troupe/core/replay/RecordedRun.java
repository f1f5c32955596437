package io.troupe.core.replay;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.run.Phase;
import io.troupe.core.run.ProcessFacts;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The fold of a journal into what a replay makes again. What a resume undid is left out: the items
 * are those of the run as it is.
 */
public final class RecordedRun {
  private final List<RecordedItem> items = new ArrayList<>();
  private RunState state;
  private Optional<ProcessFacts> process = Optional.empty();
  private Map<WeightVersion, String> digests = new TreeMap<>();
  private Optional<Event.GroupDigested> digested = Optional.empty();
  private List<LeaseId> batch = List.of();

  /**
   * A run before the first record of its journal that is kept.
   *
   * @param base the state there
   */
  public RecordedRun(RunState base) {
    this.state = base;
  }

  /** The items in order. */
  public List<RecordedItem> items() {
    return List.copyOf(items);
  }

  /** The state behind the last event. */
  public RunState state() {
    return state;
  }

  /** Takes the next event of the journal. */
  public void event(Event event) {
    switch (event) {
      case Event.ProcessStarted(ProcessFacts facts) -> process = Optional.of(facts);
      case Event.WeightsMade(WeightVersion version, String digest) -> digests.put(version, digest);
      case Event.RunStarted _ -> {
        items.clear();
        begin(WeightVersion.BASE, false);
      }
      case Event.RunResumed(RunState from) when from.phase() instanceof Phase.Running -> {
        undoBeyond(from);
        begin(from.version(), true);
      }
      case Event.GroupDigested noted -> digested = Optional.of(noted);
      case Event.GroupBuffered(GroupSummary summary) -> scored(summary, false);
      case Event.GroupFiltered(GroupSummary summary) -> scored(summary, true);
      case Event.StepStarted(long _, List<GroupId> groups) ->
          batch = groups.stream().map(this::buffered).toList();
      case Event.StepTrained(long step, List<GroupId> kept) ->
          items.add(
              new RecordedItem.Trained(
                  step, batch, kept, digests.getOrDefault(new WeightVersion(step), "")));
      case Event.StepSkipped(long step, String reason, boolean _) ->
          items.add(new RecordedItem.Skipped(step, batch, reason));
      default -> {} // The others change nothing that a replay computes.
    }
    state = state.evolve(event);
  }

  private void begin(WeightVersion version, boolean resumed) {
    process.ifPresent(
        facts ->
            items.add(
                new RecordedItem.Began(
                    facts, version, digests.getOrDefault(version, ""), resumed)));
    process = Optional.empty();
  }

  private void scored(GroupSummary summary, boolean filtered) {
    Group group = state.group(summary.lease().group());
    items.add(
        new RecordedItem.Scored(
            new RecordedGroup(
                summary,
                group.prompt(),
                group.epoch(),
                group.draws(),
                state.lease(summary.lease()).orElseThrow().worker(),
                digested
                    .filter(noted -> noted.lease().equals(summary.lease()))
                    .map(Event.GroupDigested::digests)
                    .orElse(List.of()),
                filtered)));
    digested = Optional.empty();
  }

  private LeaseId buffered(GroupId id) {
    return state
        .buffered()
        .map(GroupSummary::lease)
        .filter(lease -> lease.group().equals(id))
        .findFirst()
        .orElseThrow();
  }

  /**
   * Removes what came after a checkpoint. A checkpoint follows its step; what was buffered between
   * the step and the checkpoint stays.
   */
  private void undoBeyond(RunState checkpoint) {
    int kept = 0;
    for (int i = 0; i < items.size(); i++) {
      boolean within =
          switch (items.get(i)) {
            case RecordedItem.Began(var _, WeightVersion version, String _, boolean _) ->
                version.compareTo(checkpoint.version()) <= 0;
            case RecordedItem.Trained(long step, var _, var _, String _) ->
                step <= checkpoint.version().number();
            case RecordedItem.Scored _, RecordedItem.Skipped _ -> false;
          };
      kept = within ? i + 1 : kept;
    }
    Set<LeaseId> buffered =
        checkpoint.buffered().map(GroupSummary::lease).collect(Collectors.toSet());
    List<RecordedItem> later = items.subList(kept, items.size());
    List<RecordedItem> survivors =
        later.stream()
            .filter(
                item ->
                    item instanceof RecordedItem.Scored(RecordedGroup group)
                        && buffered.contains(group.summary().lease()))
            .toList();
    later.clear();
    items.addAll(survivors);
  }
}
