package io.troupe.run.replay;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.config.RunConfig;
import io.troupe.core.advantage.OverlongPunishment;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.replay.RecordedItem;
import io.troupe.core.replay.RecordedRun;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StalenessBound;
import io.troupe.core.train.TrainingBatch;
import io.troupe.core.weights.WeightVersion;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * The completions of a step's batch, row by row: who sampled each, what it was worth, and what the
 * loss made of it.
 *
 * <p>Advantages, staleness and loss weights are computed again from the journal by the code of the
 * run: they are functions of rewards, lengths and versions. Log-probabilities and ratios are not in
 * the journal: a replay up to the step computes them again. Which tokens lay outside the clip range
 * is in the traces too.
 */
public final class StepExplanation {
  private static final String ABSENT =
      "not recorded: the journal has digests of them, and --tokens computes them again";
  private static final int[] ANY = {0};

  private final RunFolder folder;
  private final long step;
  private final Map<String, String> facts;
  private final RunConfig config;
  private final List<RecordedGroup> batch;
  private final List<TrainingSequence> sequences;
  private final Map<LeaseId, JsonNode> texts;
  private final Map<LeaseId, JsonNode> marks;

  private StepExplanation(
      RunFolder folder,
      long step,
      RecordedItem.Began process,
      RunConfig config,
      List<RecordedGroup> batch) {
    this.folder = folder;
    this.step = step;
    this.facts = process.process().facts();
    this.config = config;
    this.batch = batch;
    RunTexts traces = new RunTexts(folder);
    this.texts = traces.rollouts(batch.stream().map(group -> group.summary().lease()).toList());
    this.marks = traces.marks(step);
    this.sequences =
        TrainingBatch.of(
                batch.stream().map(group -> weightless(group.summary())).toList(),
                config.lossSettings(),
                new StalenessBound(config.training().maxStaleness()),
                new WeightVersion(step - 1))
            .sequences();
  }

  /**
   * Finds a step.
   *
   * @throws ReplayRefusedException if the run has no such step, or it had several turns an episode
   */
  public static StepExplanation of(RunFolder folder, long step)
      throws IOException, ReplayRefusedException {
    RecordedRun run = ReplayPlan.recorded(folder);
    List<RecordedItem.Began> processes = new ArrayList<>();
    Map<LeaseId, RecordedGroup> groups = new LinkedHashMap<>();
    for (RecordedItem item : run.items()) {
      switch (item) {
        case RecordedItem.Began began -> processes.add(began);
        case RecordedItem.Scored(RecordedGroup group) -> groups.put(group.summary().lease(), group);
        case RecordedItem.Trained(long number, List<LeaseId> leases, var _, String _)
            when number == step && !processes.isEmpty() -> {
          RecordedItem.Began process = processes.getLast();
          RunConfig config = RunReplay.config(process.process().config());
          requireSingleTurns(folder, config);
          return new StepExplanation(
              folder,
              step,
              process,
              config,
              leases.stream().map(lease -> Objects.requireNonNull(groups.get(lease))).toList());
        }
        case RecordedItem.Trained _, RecordedItem.Skipped _ -> {}
      }
    }
    throw new ReplayRefusedException(
        "%s has no step %d that moved the weights, or its journal does not say what computed it;"
                .formatted(folder.name(), step)
            + " its newest weights are "
            + run.state().version());
  }

  private static void requireSingleTurns(RunFolder folder, RunConfig config)
      throws ReplayRefusedException {
    if (config.episode().hasTurns()) {
      throw new ReplayRefusedException(
          "%s has episodes of several turns; explain knows runs of single answers only"
              .formatted(folder.name()));
    }
  }

  /** The group without its tokens: what is computed here depends on their number alone. */
  private static ScoredGroup weightless(GroupSummary summary) {
    List<Episode> episodes = new ArrayList<>();
    for (int i = 0; i < summary.versions().size(); i++) {
      TokenVersions versions = summary.versions().get(i);
      Completion completion =
          new Completion(
              new int[versions.tokens()],
              new float[versions.tokens()],
              versions,
              FinishReason.STOP);
      episodes.add(
          new Episode(Episode.of(ANY, completion).sequences(), summary.episodes().get(i).stop()));
    }
    return new ScoredGroup(summary.lease(), ANY, episodes, summary.rewards());
  }

  /** The number of rows. */
  public int rows() {
    return sequences.size();
  }

  /**
   * The tokens of a completion with their log-probabilities, by a replay up to the step.
   *
   * @param row place in the batch, from 0
   * @param say takes lines about the progress
   * @throws ReplayRefusedException if the run cannot be made again here
   */
  public List<ExplainedToken> tokens(int row, Consumer<String> say)
      throws IOException, ReplayRefusedException {
    BatchPlace place = place(row);
    return RunReplay.tokens(
        folder, step, row, place.group().summary().versions().get(place.completion()), say);
  }

  /**
   * Explains a completion.
   *
   * @param row place in the batch, from 0
   */
  public Map<String, Object> row(int row) {
    BatchPlace place = place(row);
    RecordedGroup group = place.group();
    int index = place.completion();
    LeaseId lease = group.summary().lease();
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("run", folder.name());
    map.put("step", step);
    map.put("row", row);
    map.put("group", lease.group().number());
    map.put("fence", lease.fence());
    map.put("completion", index);
    sampling(map, group, index);
    judgement(map, group, index);
    loss(map, group, index, sequences.get(row));
    return map;
  }

  private record BatchPlace(RecordedGroup group, int completion) {}

  private BatchPlace place(int row) {
    int index = row;
    int group = 0;
    while (index >= batch.get(group).summary().versions().size()) {
      index -= batch.get(group).summary().versions().size();
      group++;
    }
    return new BatchPlace(batch.get(group), index);
  }

  private void sampling(Map<String, Object> map, RecordedGroup group, int index) {
    TokenVersions versions = group.summary().versions().get(index);
    map.put("worker", group.worker().value());
    String torch = facts.getOrDefault("torch", "");
    map.put("engine", torch.isEmpty() ? "not PyTorch" : "PyTorch " + torch);
    map.put("tokens", versions.tokens());
    map.put(
        "versions",
        versions.spans().stream()
            .map(span -> Map.of("version", span.version().number(), "tokens", span.tokens()))
            .toList());
    map.put("earlier_leases", group.draws());
    map.put("log_probs", ABSENT);
    if (index < group.digests().size()) {
      map.put("digest", group.digests().get(index));
    }
  }

  private void judgement(Map<String, Object> map, RecordedGroup group, int index) {
    map.put("reward", group.summary().rewards().get(index));
    Optional<JsonNode> line = Optional.ofNullable(texts.get(group.summary().lease()));
    if (line.isEmpty()) {
      map.put("texts", "not in the traces of this run");
      return;
    }
    map.put("prompt_id", line.get().path("prompt_id").asText());
    map.put("prompt", line.get().path("prompt").asText());
    map.put("answer", line.get().path("answer").asText());
    map.put("text", line.get().path("completions").path(index).asText());
    map.put("verdict", line.get().path("verdicts").path(index).asText());
  }

  private void loss(
      Map<String, Object> map, RecordedGroup group, int index, TrainingSequence sequence) {
    LossSettings loss = config.lossSettings();
    map.put("group_rewards", group.summary().rewards());
    map.put("baseline", loss.baseline().toString());
    map.put("advantage", advantage(loss, sequence));
    int[] staleness = sequence.staleness();
    float[] weights = sequence.lossWeights();
    map.put("staleness_max", IntStream.of(staleness).max().orElse(0));
    map.put("staleness_mean", IntStream.of(staleness).average().orElse(0));
    map.put(
        "tokens_with_loss_weight",
        IntStream.range(0, weights.length).filter(t -> weights[t] != 0).count());
    map.put(
        "loss_weight",
        IntStream.range(0, weights.length)
            .mapToDouble(t -> weights[t])
            .filter(weight -> weight != 0)
            .findFirst()
            .orElse(0));
    map.put("correction", loss.offPolicy().correction().toString());
    map.put("ratio", ABSENT);
    Optional.ofNullable(marks.get(group.summary().lease()))
        .ifPresentOrElse(
            found -> map.put("marks", found.path(index)),
            () ->
                map.put("marks", "no token was clipped, cut or masked, or no traces were written"));
  }

  /** Returns the advantage: the trainer's additions to rewards are not in the journal. */
  private static Object advantage(LossSettings loss, TrainingSequence sequence) {
    if (loss.penalisesReward()) {
      return "not recorded: loss.kl_in is reward, and the penalties are not in the journal";
    }
    return loss.overlong().punishment().equals(OverlongPunishment.NONE)
        ? sequence.advantage()
        : "not recorded: the trainer punished long completions, and that is not in the journal";
  }
}
