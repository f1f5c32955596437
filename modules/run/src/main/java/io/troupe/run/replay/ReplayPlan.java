package io.troupe.run.replay;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.replay.RecordedItem;
import io.troupe.core.replay.RecordedRun;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.state.StateSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The part of a run that a replay makes again.
 *
 * <p>A replay begins where nothing was in flight: at the beginning of the run, or at a checkpoint
 * from which a process continued it. Groups that are in flight at any other checkpoint have tokens
 * of older weights, which no checkpoint holds.
 *
 * <p>Training alone begins at any checkpoint: the tokens of its steps are stored.
 *
 * @param begin start of the process that was at work at the beginning of the part
 * @param version of the weights there
 * @param digest of these weights
 * @param checkpoint that it begins from; empty at the beginning of the run
 * @param items behind it, up to the last step
 */
public record ReplayPlan(
    RecordedItem.Began begin,
    WeightVersion version,
    String digest,
    Optional<Path> checkpoint,
    List<RecordedItem> items) {
  public ReplayPlan {
    items = List.copyOf(items);
  }

  /** Reads the journal of a run. */
  public static RecordedRun recorded(RunFolder folder) throws IOException {
    try (RunJournal journal = RunJournal.open(folder.journal())) {
      RecordedRun run =
          new RecordedRun(journal.base().map(StateSnapshot::state).orElse(RunState.INITIAL));
      journal.forEachNext(entry -> entry.events().forEach(run::event));
      return run;
    }
  }

  /**
   * Finds the beginning and the end.
   *
   * @throws ReplayRefusedException if the journal or a checkpoint lacks something
   */
  static ReplayPlan of(RunFolder folder, RecordedRun run, ReplaySettings settings)
      throws IOException, ReplayRefusedException {
    List<RecordedItem> items = run.items();
    Map<Long, Path> checkpoints = checkpoints(folder);
    Optional<ReplayPlan> found = Optional.empty();
    List<String> missing = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      if (items.get(i) instanceof RecordedItem.Began began
          && began.version().number() <= settings.from()) {
        Optional<Path> checkpoint = Optional.ofNullable(checkpoints.get(began.version().number()));
        if (began.resumed() && checkpoint.isEmpty()) {
          missing.add("step" + began.version().number());
        } else {
          found =
              Optional.of(
                  new ReplayPlan(
                      began,
                      began.version(),
                      began.digest(),
                      began.resumed() ? checkpoint : Optional.empty(),
                      upTo(settings.to(), items.subList(i + 1, items.size()))));
        }
      }
    }
    return found.orElseThrow(() -> new ReplayRefusedException(nothing(folder, items, missing)));
  }

  /**
   * Finds the beginning and the end of training alone.
   *
   * @throws ReplayRefusedException if the journal or a checkpoint lacks something
   */
  static ReplayPlan ofTraining(RunFolder folder, RecordedRun run, ReplaySettings settings)
      throws IOException, ReplayRefusedException {
    List<RecordedItem> items = run.items();
    Map<Long, Path> checkpoints = checkpoints(folder);
    Optional<RecordedItem.Began> process = Optional.empty();
    Optional<ReplayPlan> found = Optional.empty();
    for (int i = 0; i < items.size(); i++) {
      WeightVersion version = WeightVersion.BASE;
      String digest = "";
      boolean first = false;
      switch (items.get(i)) {
        case RecordedItem.Began began -> {
          process = Optional.of(began);
          version = began.version();
          digest = began.digest();
          first = !began.resumed();
        }
        case RecordedItem.Trained(long step, var _, var _, String made) -> {
          version = new WeightVersion(step);
          digest = made;
        }
        case RecordedItem.Scored _, RecordedItem.Skipped _ -> {
          continue;
        }
      }
      Optional<Path> checkpoint =
          first ? Optional.empty() : Optional.ofNullable(checkpoints.get(version.number()));
      if (version.number() <= settings.from()
          && process.isPresent()
          && (first || checkpoint.isPresent())) {
        found =
            Optional.of(
                new ReplayPlan(
                    process.get(),
                    version,
                    digest,
                    checkpoint,
                    upTo(settings.to(), items.subList(i + 1, items.size()))));
      }
    }
    return found.orElseThrow(() -> new ReplayRefusedException(nothing(folder, items, List.of())));
  }

  /** The whole checkpoints of a run by their steps. */
  static SortedMap<Long, Path> checkpoints(RunFolder folder) throws IOException {
    SortedMap<Long, Path> checkpoints = new TreeMap<>();
    for (Checkpoint one : Checkpoints.view(folder.checkpoints()).list().whole()) {
      checkpoints.put(one.step(), one.directory());
    }
    return checkpoints;
  }

  private static String nothing(RunFolder folder, List<RecordedItem> items, List<String> missing) {
    if (items.stream().noneMatch(RecordedItem.Began.class::isInstance)) {
      return "the journal of %s does not say what its processes computed with: it was written by a"
              .formatted(folder.name())
          + " version of Troupe without replay, or its oldest records were dropped"
          + " (recording.journal); a run made by this version can be replayed";
    }
    return "%s can be made again from its beginning or from a checkpoint that a process continued"
            .formatted(folder.name())
        + " from, and %s; ask for a later --from"
            .formatted(
                missing.isEmpty()
                    ? "there is none at or before --from"
                    : "checkpoint " + String.join(", ", missing) + " is gone");
  }

  private static List<RecordedItem> upTo(long last, List<RecordedItem> items) {
    int end = 0;
    boolean beyond = false;
    for (int i = 0; i < items.size() && !beyond; i++) {
      beyond =
          items.get(i) instanceof RecordedItem.Trained(long step, var _, var _, var _)
              && step > last;
      end = beyond ? end : i + 1;
    }
    List<RecordedItem> kept = items.subList(0, end);
    return beyond ? withoutLooseEnd(kept) : kept;
  }

  /** Groups behind the last step that is made again belong to later ones. */
  private static List<RecordedItem> withoutLooseEnd(List<RecordedItem> items) {
    int end = items.size();
    while (end > 0 && items.get(end - 1) instanceof RecordedItem.Scored) {
      end--;
    }
    return items.subList(0, end);
  }

  /** The processes that worked on the part. */
  List<RecordedItem.Began> processes() {
    return Stream.concat(Stream.of(begin), items.stream())
        .filter(RecordedItem.Began.class::isInstance)
        .map(RecordedItem.Began.class::cast)
        .toList();
  }

  /** The first step that trains on a lease's group. */
  Map<LeaseId, Long> steps() {
    Map<LeaseId, Long> steps = new HashMap<>();
    for (RecordedItem item : items) {
      switch (item) {
        case RecordedItem.Trained(long step, var batch, var _, String _) ->
            batch.forEach(lease -> steps.putIfAbsent(lease, step));
        case RecordedItem.Skipped(long step, var batch, String _) ->
            batch.forEach(lease -> steps.putIfAbsent(lease, step));
        case RecordedItem.Began _, RecordedItem.Scored _ -> {}
      }
    }
    return steps;
  }

  /** The index of the last item that samples with a version, of each version that any does. */
  Map<WeightVersion, Integer> lastUses() {
    Map<WeightVersion, Integer> last = new HashMap<>();
    for (int i = 0; i < items.size(); i++) {
      if (items.get(i) instanceof RecordedItem.Scored(RecordedGroup group)) {
        for (TokenVersions versions : group.summary().versions()) {
          for (TokenVersions.Span span : versions.spans()) {
            last.put(span.version(), i);
          }
        }
      }
    }
    return last;
  }
}
