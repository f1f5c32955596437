package io.troupe.run.rollouts;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.troupe.config.RunConfig;
import io.troupe.core.advantage.Advantages;
import io.troupe.core.advantage.OverlongPunishment;
import io.troupe.core.advantage.StepRewards;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.replay.RecordedItem;
import io.troupe.core.replay.RecordedRun;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.group.Group;
import io.troupe.run.replay.ReplayPlan;
import io.troupe.run.rollouts.RolloutGroup.Outcome;
import io.troupe.run.rollouts.RolloutGroup.RolloutStage;
import io.troupe.store.folder.RunFolder;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All rollouts of a run, read from its folder: the journal says what became of a group, and the
 * traces have its texts, one group at a time.
 *
 * <p>The run may be under way: what is written behind the reader is left out.
 */
public final class RecordedRollouts {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final RunFolder folder;
  private final Map<LeaseId, RecordedGroup> groups = new LinkedHashMap<>();
  private final Map<LeaseId, Outcome> outcomes = new HashMap<>();

  private RecordedRollouts(RunFolder folder) {
    this.folder = folder;
  }

  /** Reads the journal of a run. */
  public static RecordedRollouts of(RunFolder folder) throws IOException {
    return of(
        folder,
        ReplayPlan.recorded(folder),
        RunConfig.load(folder.resolved(), List.of()).config().lossSettings());
  }

  static RecordedRollouts of(RunFolder folder, RecordedRun run, LossSettings loss) {
    RecordedRollouts rollouts = new RecordedRollouts(folder);
    Stream<GroupSummary> inTraining =
        run.state().inTraining().map(group -> ((Group.Training) group.stage()).summary());
    Set<LeaseId> waiting =
        Stream.concat(run.state().buffered(), inTraining)
            .map(GroupSummary::lease)
            .collect(Collectors.toSet());
    for (RecordedItem item : run.items()) {
      switch (item) {
        case RecordedItem.Scored(RecordedGroup group) -> {
          LeaseId lease = group.summary().lease();
          RolloutStage stage =
              group.filtered()
                  ? RolloutStage.FILTERED
                  : waiting.contains(lease) ? RolloutStage.BUFFERED : RolloutStage.DROPPED;
          rollouts.groups.put(lease, group);
          rollouts.outcomes.put(lease, new Outcome(stage, 0, List.of()));
        }
        case RecordedItem.Trained(long step, List<LeaseId> batch, var _, String _) ->
            rollouts.took(step, batch, RolloutStage.TRAINED, loss);
        case RecordedItem.Skipped(long step, List<LeaseId> batch, String _) ->
            rollouts.took(step, batch, RolloutStage.SKIPPED, loss);
        case RecordedItem.Began _ -> {}
      }
    }
    return rollouts;
  }

  private void took(long step, List<LeaseId> batch, RolloutStage stage, LossSettings loss) {
    List<RecordedGroup> taken =
        batch.stream().filter(groups::containsKey).map(this::group).toList();
    boolean known =
        taken.size() == batch.size()
            && !loss.penalisesReward()
            && loss.overlong().punishment().equals(OverlongPunishment.NONE);
    List<double[]> advantages = known ? advantages(taken, loss) : List.of();
    for (int i = 0; i < taken.size(); i++) {
      LeaseId lease = taken.get(i).summary().lease();
      if (outcome(lease).step() == 0) {
        List<Double> own = known ? Arrays.stream(advantages.get(i)).boxed().toList() : List.of();
        outcomes.put(lease, new Outcome(stage, step, own));
      } else if (stage == RolloutStage.TRAINED) {
        Outcome first = outcome(lease);
        outcomes.put(lease, new Outcome(stage, first.step(), first.advantages()));
      }
    }
  }

  /** Computes what the run computed: advantages are a function of rewards and lengths. */
  private static List<double[]> advantages(List<RecordedGroup> batch, LossSettings loss) {
    List<double[]> rewards =
        batch.stream()
            .map(
                group ->
                    group.summary().rewards().stream().mapToDouble(Double::doubleValue).toArray())
            .toList();
    List<int[]> lengths =
        batch.stream()
            .map(group -> group.summary().versions().stream().mapToInt(TokenVersions::tokens))
            .map(each -> each.toArray())
            .toList();
    return Advantages.of(loss.baseline(), StepRewards.of(rewards), lengths);
  }

  private RecordedGroup group(LeaseId lease) {
    return Optional.ofNullable(groups.get(lease)).orElseThrow();
  }

  private Outcome outcome(LeaseId lease) {
    return outcomes.getOrDefault(lease, Outcome.VOID);
  }

  /** Whether the run has traces with the texts. */
  public boolean hasTexts() {
    return files().stream().anyMatch(Files::isReadable);
  }

  private List<Path> files() {
    return List.of(
        folder.traces().resolve("rollouts.1.jsonl"), folder.traces().resolve("rollouts.jsonl"));
  }

  /** Gives each group once: those of the traces in their order, then those without texts. */
  public void forEach(Consumer<RolloutGroup> use) throws IOException {
    Map<LeaseId, Integer> last = new HashMap<>();
    Set<LeaseId> given = new HashSet<>();
    lines((number, lease, _) -> last.put(lease, number));
    lines(
        (number, lease, line) -> {
          // A resumed run may have written a group again, and one that is under way writes more.
          if (last.getOrDefault(lease, 0) == number) {
            given.add(lease);
            use.accept(
                new RolloutGroup(
                    lease, outcome(lease), Optional.ofNullable(groups.get(lease)), line));
          }
        });
    for (Map.Entry<LeaseId, RecordedGroup> each : groups.entrySet()) {
      LeaseId lease = each.getKey();
      if (!given.contains(lease)) {
        use.accept(
            new RolloutGroup(
                lease, outcome(lease), Optional.of(each.getValue()), MissingNode.getInstance()));
      }
    }
  }

  /** Takes a line of the traces. */
  @FunctionalInterface
  private interface LineUse {
    void take(int number, LeaseId lease, JsonNode line);
  }

  private void lines(LineUse use) throws IOException {
    int number = 0;
    for (Path file : files()) {
      if (!Files.isReadable(file)) {
        continue;
      }
      try (BufferedReader lines = Files.newBufferedReader(file)) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          number++;
          Optional<JsonNode> parsed = parse(line);
          if (parsed.isPresent()) {
            JsonNode node = parsed.get();
            use.take(
                number,
                new LeaseId(new GroupId(node.path("group").asLong()), node.path("fence").asLong()),
                node);
          }
        }
      }
    }
  }

  /** Empty for the last line of a process that was killed. */
  private static Optional<JsonNode> parse(String line) {
    try {
      JsonNode node = JSON.readTree(line);
      return node.isObject() ? Optional.of(node) : Optional.empty();
    } catch (JsonProcessingException cut) {
      return Optional.empty();
    }
  }
}
